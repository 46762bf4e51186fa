// The program that the page comes from, asked in JSON. A page that was opened as a file has none.

export class Server {
  /** @param {{refusal: string}} about why rows cannot be moved, empty if they can */
  constructor(about) {
    this.about = about;
  }

  /**
   * @param {string} question
   * @param {Record<string, unknown>} details
   * @returns {Promise<any>} the answer; an error in words if there is none
   */
  async ask(question, details) {
    const body = JSON.stringify({ question, ...details });
    /** @type {Response} */
    let response;
    try {
      response = await fetch("ask", { method: "POST", headers: { "Content-Type": "application/json" }, body });
    } catch {
      throw new Error("The server does not answer: gnomon serve may have been stopped.");
    }
    const answer = await response.json().catch(() => null);
    if (!response.ok || !answer) throw new Error(answer?.error ?? `The server answers with status ${response.status}.`);
    return answer;
  }
}
