"""Columns of texts that are steps of one scale: their order, what is told, and ordinary ones that have none."""

import itertools

import numpy as np
import pandas as pd
import pytest

import gnomon as gn
from gnomon._palette import OTHER, RAMP, class_colors, step_colors
from gnomon.data.columns.scales import order_of_texts
from gnomon.data.columns.variants import variants_of
from gnomon.data.labels import order_of
from gnomon.exceptions import DataWarning
from gnomon.plot.colors import colors_of
from gnomon.viewer.columns import encode_column

SCALES = [
    "risk: low|medium|high",
    "risk: low risk|medium risk|high risk",
    "priority: Lowest|Low|Medium|High|Critical",
    "q: never|rarely|sometimes|often|always",
    "q: Never|Once a month|Once a week|Every day",
    "q: Strongly disagree|Disagree|Neither agree nor disagree|Agree|Strongly agree",
    "q: disagree completely|disagree somewhat|agree somewhat|agree completely",
    "q: Very dissatisfied|Dissatisfied|Neutral|Satisfied|Very satisfied",
    "q: very unlikely|unlikely|likely|very likely",
    "q: not at all important|slightly important|very important|extremely important",
    "q: not interested|interested|very interested",
    "q: 1 = never|2 = sometimes|3 = always",
    "q: no|maybe|yes",
    "q: not at all|a little|moderately|quite a bit|extremely",
    "q: much worse|worse|about the same|better|much better",
    "pain: none|mild|moderate|severe",
    "cut: Fair|Good|Very Good|Premium|Ideal",
    "service: poor|fair|good|excellent",
    "bp: normal|high|very high",
    "speed: slow|medium|fast",
    "water: cold|warm|hot",
    "fare: First|Second|Third",
    "school: High school|Bachelor's degree|Master's degree|PhD",
    "rank: junior|mid-level|senior",
    "shirt: S|M|L|XL",
    "income: <10k|10k-20k|20k-50k|>50k",
    "income: 10-20k|20-30k|30k+",
    "share: 0-10%|10-20%|>20%",
    "income: $10,000 - $19,999|$20,000 - $49,999|$50,000 or more",
    "age: 20-29|30-39|40-49|60+",
    "age: Under 18|18 to 24|25 to 34|65 and over",
    "age: 00-04|05-09|10-14",
    "children: 0|1|2|3+",
    "firm: 1-9 employees|10-49 employees|50+ employees",
    "bin: (0.0, 10.0]|(10.0, 20.0]|(20.0, 30.0]",
    "far: 0-5 km|5-10 km|10-50 km",
    "stage: I|II|III|IV",
    "tumour_stage: I|II|IIIA|IIIB",
    "pT: T1|T2|T3|T4",
    "x: Stage I|Stage II|Stage IV",
    "x: Grade 1|Grade 2|Grade 3",
    "grade: F|C|B|A",
    "mark: C|B-|A+",
    "nyhaClass: I|II|III",
    "visit: V1|V2|V3",
    "visit: week 1|week 2|week 4",
    "wave: T0|T1|T2",
    "stage: N0|N1|N2",
    "level: L1|L2|L3",
    "phq_1: Not at all|Several days|More than half the days|Nearly every day",
    "phq_2: 0 = Not at all|1 = Several days|2 = More than half the days|3 = Nearly every day",
    "edu: Less than high school|High school or GED|Some college, no degree|Bachelor's degree|Graduate degree",
    "edu: High school|College|University|PhD",
    "degree: BSc|MSc|PhD",
    "place: 1st|2nd|3rd",
]

# Columns without an order, "name: values".
ORDINARY = """
region: North|South|East|West; region2: north|north east|south|south west
continent: Africa|Asia|Europe|Americas; gender: male|female|other|prefer not to say
gender2: woman|man|non-binary; sex: M|F|U; sex2: F|M|X; marital: S|M|D|W
marital2: single|married|divorced|widowed; product: A|B|C; product2: basic|pro|enterprise
product3: Widget 1|Widget 2|Widget 3; code: A1|B2|C3; code2: A1|A2|B1|B2|C1; room: Room 101|Room 102|Room 201
site: site 1|site 2|site 3; site_2: S1|S2|S3|S4; treatment: T1|T2|T3|T4; treat: control|drug A|drug B
arm: I|II|III; dataset: I|II|III|IV; blood: A|B|AB|0; blood2: A+|A-|B+|O-; color: red|green|blue
color2: light|dark|medium blue; color3: gold|silver|bronze|black
colour4: light blue|dark blue|light green|dark green; weekday: Mon|Tue|Wed|Thu|Fri|Sat|Sun; month: Jan|Feb|Mar
quarter: Q1|Q2|Q3|Q4; season: spring|summer|autumn|winter; season2: 2018-19|2019-20|2020-21; score: 1-0|2-1|0-3
score2: 0-0|1-1|2-2|0-1; phone: 555-1234|555-9876|555-4321; case: 19-345|20-112|21-890
case2: 19-001|20-014|21-033; seat: 12A|12B|14C; lot: L-100|L-101|L-205; version: 1.0.1|1.2.0|2.0.0
chrom: chr1|chr2|chrX; gene: TP53|BRCA1|MYC; cell: B|T|NK; cell2: CD4+|CD8+|CD19+; city: Berlin|Paris|Rome
country: DE|FR|IT; lang: en|de|fr; fuel: diesel|petrol|electric|hybrid; transm: manual|automatic|cvt
drive: fwd|rwd|4wd; body: sedan|suv|hatchback; pay: cash|card|transfer; device: phone|tablet|desktop
os: iOS|Android|Windows; browser: Chrome|Safari|Firefox; status: open|closed|pending
status2: new|in progress|done; status3: active|inactive|unknown; answer: yes|no|don't know
answer2: Yes|No|No internet service; answer3: yes|no|unsure; answer4: yes|no|other; hand: left|right|both
side: left|center|right; posture: sitting|standing|lying; weather: sunny|cloudy|rain|snow
weather2: hot|rainy|snowy; party: left|right|green; party2: Democrat|Republican|Independent
religion: christian|muslim|jewish|none; ethnic: white|black|asian|other; job: teacher|nurse|engineer
dept: HR|IT|Sales; work: full time|part time|self employed; housing: own|rent|free; relation: husband|wife|child
relation2: parent|child|spouse; school: public|private|charter; school2: school 1|school 2|school 3
class2: I A|I B|II A; group: 1|2|3; group2: G1|G2|G3; group3: group 1|group 2|group 3; cluster2: c1|c2|c10
batch: b1|b2|b3; plate: P1|P2|P3; well: A01|A02|B01; donor: D1|D2|D3; animal: dog|cat|bird
shape: round|oval|square; taste: sweet|sour|salty|bitter; size: king|queen|twin; size2: 205/55|195/65|225/45
size3: 8x10|10x12|12x16; paper: A3|A4|A5; tshirt: S-red|M-blue|L-red; dims: 10x20|20x30|30x40
ratio: 16:9|4:3|1:1; time: 10:30|11:45|12:00; range: all|none|5-10; zip: 01001|99501|10115; iban: DE12|DE44|FR33
plan: free|plus|team; plan2: monthly|two year|one-off; contract: Month-to-month|One year|Two year
ship: air|sea|road; ward: ICU|ER|OR; outcome: alive|dead|lost; smoker: never|former|current
alcohol: none|beer|wine|spirits; diet: vegan|vegetarian|omnivore; exposure: none|unknown|asbestos
mood: happy|sad|angry; emotion: joy|fear|anger|neutral; sentiment: joy|negative|mixed feelings
genre: rock|pop|jazz; position: goalkeeper|defender|midfielder|forward; position2: first base|shortstop|pitcher
award: first|runner up|none; name: First|Last|Middle; name2: Smith|Jones|Lee; tea: green|black|white
roast: light roast|espresso|decaf; cut: regular|slim|relaxed; fit: slim|loose|normal; fabric: cotton|wool|silk
gas: CO2|CH4|N2O; metal: Cu|Fe|Zn; mineral: quartz|mica|feldspar; soil: clay|sand|loam
biome: tundra|forest|desert; rock: I-type|S-type|A-type; star: O|B|A|F|G|K|M; galaxy: E|S0|Sa|SBb
planet: Mars|Venus|Earth; particle: e|mu|tau; quark: up|down|strange; spin: up|down|mixed spin
trend: up|down|sideways; direction: in|out|both; direction2: up|left|right; allele: AA|AB|BB; snp: A/A|A/G|G/G
strand: +|-|.; base: A|C|G|T; amino: Ala|Gly|Val; enzyme: EC 1|EC 2|EC 3; virus: A/H1N1|A/H3N2|B
vaccine: Pfizer|Moderna|AZ; drug: aspirin|placebo|ibuprofen; dose form: tablet|syrup|injection
route: oral|iv|im; ecg: normal|abnormal|borderline; xray: normal|benign|malignant
biopsy: benign|malignant|unknown; mri: T1|T2|FLAIR; mri2: T1|T2|PD; sequence: T1|T2|T1c
hand2: right|left|ambidextrous; eye: blue|brown|hazel; hair: blond|brown|black
skin: I don't know|fair|dark|olive; complexion: fair|dark|olive; role: admin|user|guest
role2: author|editor|reviewer; team: red|blue|team 3; league: premier|championship|one
sport: soccer|tennis|golf; event: 100m|200m|400m hurdles; channel: email|phone|chat; channel2: Ch 1|Ch 2|Ch 3
source: web|app|store; campaign: Spring24|Fall24|Summer25; url: a.com|b.org|c.net; file: a.csv|b.csv|c.csv
unit: kg|g|lb; currency: EUR|USD|GBP; bank: ING|DB|HSBC; stock: AAPL|MSFT|GOOG; sector: tech|energy|health
bond: corporate|government|municipal; loan: car|home|student; purpose: car|education|medical; gate: A|B|C|D
terminal: T1|T2|T3; airline: LH|BA|AF; flight: LH123|BA456|AF789; cabin: economy|business|first
berth: upper|lower|side lower; stop: one|two|zero; train: ICE 1|IC 2|RE 5; road: A1|B27|L12
vehicle: car|truck|bike; crash: rear end|side|head on; injury: head|leg|arm; law: criminal|civil|tax
verdict: guilty|not guilty|hung; crime: theft|assault|fraud; plea: yes|no|no contest; vote: yes|no|abstain
vote2: for|against|abstain; ballot: A|B|blank; district: District 1|District 2|District 9; state: CA|NY|TX
county: Kent|Essex|Surrey; river: Rhine|Elbe|Danube; lake: near lake|far away|on lake
ocean: NEAR BAY|INLAND|<1H OCEAN|NEAR OCEAN; roof: flat|gable|hip; heating: gas|oil|none
garage: attached|detached|none; pool: yes|no|shared; floor: wood|tile|carpet; view: sea|city|garden
street: Pave|Grvl|Dirt; shape2: Reg|IR1|IR2|IR3; slope: Gtl|Mod|Sev; zone: RL|RM|FV|C
zone2: zone 1|zone 2|zone 3; kitchen: Ex|Gd|TA|Fa; wall: brick|wood|stone; pet: cat|dog|none
toy: small car|big ball|doll; food: pizza|sushi|taco; drink: hot tea|cold brew|water
meal: breakfast|lunch|dinner; course: math|physics|art; exam: oral|written|both; subject: s01|s02|s03
trial: trial A|trial B|trial C; cond: congruent|incongruent|neutral; cond2: high load|low fat|medium rare
cue: valid|invalid|neutral; stim: face|house|neutral; task: rest|motor|memory; lobe: frontal|temporal|occipital
area: V1|V2|V4; layer: L1|L2/3|L4|L5; neuron: PV|SST|VIP; mouse: wt|het|ko; geno: wt|+/-|-/-
tissue: liver|lung|brain; organ: heart|kidney|left lung; tumor type: adeno|squamous|small cell
histology: small cell|large cell|adeno; receptor: ER+|PR+|HER2+; cycle: G1|S|G2M; phase2: G1|S|G2/M
phase: solid|liquid|gas; kind: k1|k2|k3; type: type 1|type 2|type 3; type2: Type I|Type II|Type III
class: I|II|III; cat: cat1|cat2|cat3; model: M1|M2|M3; gen: gen a|gen b|gen c; fold: fold1|fold2|fold3
seed: s1|s2|s3; run: run1|run2|run3; node: n1|n2|n3; host: h-1|h-2|h-3; ip: 10.0.0.1|10.0.0.2|10.0.0.3
port: 22|80|443; proto: tcp|udp|icmp; flag: S0|SF|REJ; error: E1|E2|E3; level: info|warn|debug
priority: p-a|p-b|p-c; stage: larva|pupa|adult; grade: none|pass|fail; tier: gold|silver|bronze
degree: BA|MA|JD; round: heat|semi|final; visit: baseline|followup|unscheduled; session: AM|PM|night
shift: day|night|swing; break: A|B|L|M|H; tension: warp|weft|bias; wool: wool a|wool b|wool c
feed: casein|horsebean|linseed; spray: spray A|spray B|spray C; tree: oak|pine|birch; fruit: apple|pear|plum
crop: wheat|maize|soy; seedtype: hard|soft|durum; wine: red|white|rose; beer: IPA|lager|stout
cheese: soft|hard|blue; bread: white|rye|spelt; coffee: short black|long black|flat white; fish: cod|salmon|tuna
bird: owl|hawk|wren; bill: short billed|thick billed|hooked; leaf: narrow leaf|broad leaf|needle
cap: bell|conical|flat; odor: none|foul|almond; gill: close|crowded|distant; habitat: woods|urban|meadows
isbn: 978-3|979-1|978-1; range2: 5-10|8-12|10-20; mixed: 5-10|high|low; apt: 1a|2b|3c
bus: 10 north|20 south|30 east; tyre: 3+1|2+2|4+0; lens: 18-55|70-300|50; formation: 4-4-2|4-3-3|3-5-2
shift2: early|late|night; hours: 9-5|8-4|10-6; formation2: 4-2|3-5|2-3; offer: buy 1|buy 2 get 1|none
phase3: L1|L2|L3; phase: L1|L2|L3; team: first|second|third; home_team: 1st|2nd|3rd; shift3: day 1|late|night
shift: first|second|third; group_name: First|Second|Third; degree2: BA|MA|MD|JD; state2: MA|MS|ME; level: C1|D2|E3
phase4: A1|A2|A3; tariff phase: R1|R2|R3; study: college|university|apprenticeship
pack: 6 pack|12 bottles|24 cans; set: 100 g box|200 g bag|5 pieces jar
"""


@pytest.mark.parametrize("scale", SCALES)
def test_steps_are_found_in_their_order_however_they_come(scale):
    name, _, levels = scale.partition(": ")
    order = tuple(levels.split("|"))
    for given in (order, order[::-1], sorted(order), [text.upper() for text in order]):
        found = order_of_texts(name, given)
        assert [text.casefold() for text in found] == [text.casefold() for text in order]


def test_ordinary_columns_have_no_order():
    columns = [one for line in ORDINARY.split("\n") for one in line.split("; ") if one]
    assert len(columns) >= 300
    wrong = [one for one in columns if order_of_texts(one.partition(": ")[0], one.partition(": ")[2].split("|"))]
    assert wrong == []
    assert [one for one in columns if variants_of(one.partition(": ")[2].split("|"))] == []


def test_bands_that_overlap_or_repeat_are_none():
    assert order_of_texts("age", ["10-20", "20-30", "30+"])
    for others in (
        ["10-20", "15-30", "30+"],
        ["10-20", "20-30", "20+"],
        ["20-10", "30-20", "40-30"],
        ["30+", "40+", "5"],
    ):
        assert order_of_texts("age", others) == ()
    assert order_of_texts("age", ["10-20 km", "20-30 kg", "30-40 km"]) == ()


def test_answers_that_say_nothing_are_no_steps():
    assert order_of_texts("q", ["agree", "Don't know", "neutral", "disagree", "Refused"]) == (
        "disagree",
        "neutral",
        "agree",
    )
    assert order_of_texts("q", ["yes", "no", "don't know"]) == ()


@pytest.fixture
def answers():
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "trust": rng.choice(["low", "medium", "high"], 60),
            "region": rng.choice(["north", "south", "west"], 60),
            "age": rng.normal(size=60),
        }
    )


def test_ranks_are_those_of_a_column_of_ordered_categories(answers):
    ordered = pd.CategoricalDtype(["low", "medium", "high"], ordered=True)
    said = gn.TablePreprocessor().fit(answers.assign(trust=answers["trust"].astype(ordered)))
    read = gn.TablePreprocessor().fit(answers)
    assert [*read.get_feature_names_out()] == [*said.get_feature_names_out()]
    assert np.array_equal(read.transform(answers), said.transform(answers))
    assert read.rules_[0].told() == "'trust' (rank among 3: low < medium < high)"


def test_a_map_says_the_order_and_keeps_it_in_the_legend(answers, tmp_path):
    made = gn.map(answers, method="pca")
    assert made.feature_names[0] == "trust (rank)"
    assert any("'trust' (rank among 3: low < medium < high)" in said for said in made.notes)
    assert order_of(made.metadata["trust"]) == ("low", "medium", "high")
    made.save(tmp_path / "m.gnomon")
    again = gn.load(tmp_path / "m.gnomon")
    assert np.array_equal(again.transform(answers), made.transform(answers))


def test_labels_that_are_steps_come_in_order_with_the_colours_of_a_ramp(answers):
    asked = answers.assign(trust=np.where(np.arange(60) < 5, "don't know", answers["trust"]))
    made = gn.map(asked, labels="trust", method="pca")
    steps = step_colors(3)
    assert steps == [RAMP[0], RAMP[4], RAMP[-1]]
    shown = encode_column(made.labels, 60, name="labels", as_label=True)
    assert shown.categories == ["low", "medium", "high", "don't know"]
    assert shown.colors == [*steps, OTHER]
    colors = colors_of(made.labels, None, 60)
    assert colors.names == shown.categories
    assert [*colors.hexes] == [*steps, OTHER]
    plain = gn.map(asked, labels="trust", method="pca", ordered=False)
    assert encode_column(plain.labels, 60, name="labels", as_label=True).colors == class_colors(4)
    assert [*colors_of(answers["region"], None, 60).hexes] == class_colors(3)


def test_an_order_is_said_or_forbidden(answers):
    plain = gn.map(answers, method="pca", ordered=False)
    assert "trust (rank)" not in plain.feature_names
    one = gn.map(answers, method="pca", ordered={"trust": False, "region": ["south", "west", "north"]})
    assert one.feature_names == ["trust = high", "trust = low", "trust = medium", "region (rank)", "age"]
    ranks = one.X[:, 3]
    assert [set(answers["region"][ranks == k]) for k in range(3)] == [{"south"}, {"west"}, {"north"}]
    as_categories = answers.assign(trust=answers["trust"].astype("category"))
    assert "trust = low" in gn.map(as_categories, method="pca").feature_names


@pytest.mark.filterwarnings("ignore:map. 5 of 180 values:gnomon.exceptions.DataWarning")
def test_values_outside_an_order_are_missing_and_told(answers):
    with pytest.warns(DataWarning, match="'region' has 'west' in .* rows: none of the ranks, taken as missing"):
        found = gn.TablePreprocessor(ordered={"region": ["north", "south"]}).fit_transform(answers)[:, -2]
    assert np.array_equal(np.isnan(found), answers["region"] == "west")
    asked = answers.assign(trust=np.where(np.arange(60) < 5, "Don't know", answers["trust"]))
    with pytest.warns(DataWarning, match="'trust' has \"Don't know\" in 5 rows: none of the ranks, taken as missing"):
        made = gn.map(asked, method="pca")
    assert any("Don't know" in said for said in made.notes)


def test_case_and_space_make_no_new_step(answers):
    other = answers.assign(trust=[[text, text.upper(), f" {text}"][k % 3] for k, text in enumerate(answers["trust"])])
    first, second = gn.TablePreprocessor().fit(answers), gn.TablePreprocessor().fit(other)
    assert [level.casefold() for level in second.rules_[0].categories] == ["low", "medium", "high"]
    assert np.array_equal(second.transform(other), first.transform(answers))


@pytest.mark.parametrize(
    ("ordered", "said"),
    [
        ({"trust": ["low"]}, "two different values"),
        ({"trust": "low"}, "two different values"),
        ({"trust": ["low", "Low"]}, "two different values"),
        ({"trust": ["big", "small"]}, "of values that the column has"),
        ({"age": ["1", "2"]}, "'age' holds numbers"),
        ({"there": ["1", "2"]}, "there"),
    ],
)
def test_orders_that_cannot_be_are_refused(answers, ordered, said):
    with pytest.raises(ValueError, match=said):
        gn.map(answers, method="pca", ordered=ordered)


def test_other_orders_are_refused(answers):
    with pytest.raises(TypeError, match="ordered='trust'"):
        gn.map(answers, method="pca", ordered="trust")
    with pytest.raises(ValueError, match="all columns are numbers"):
        gn.map(np.random.default_rng(0).normal(size=(30, 3)), method="pca", ordered={"0": ["a", "b"]})


def test_steps_next_to_each_other_lie_nearer_than_others():
    words = ["never", "rarely", "sometimes", "often", "always"]
    level = np.arange(100) % 5
    table = {f"q{k}": np.array(words)[np.clip(level + (np.arange(100) % (k + 2) == 0), 0, 4)] for k in range(3)}
    X = gn.TablePreprocessor().fit(table).transform(table)
    means = np.array([X[level == k].mean(axis=0) for k in range(5)])
    gaps = np.linalg.norm(means[:, None] - means, axis=2)
    for a, b, c in itertools.combinations(range(5), 3):
        assert gaps[a, b] < gaps[a, c]
        assert gaps[b, c] < gaps[a, c]
