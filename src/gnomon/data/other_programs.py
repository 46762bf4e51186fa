"""Files of other programs: how to make a table of them."""

from __future__ import annotations

__all__ = ["remedy_for"]

_OF_PROGRAMS = (
    (
        ".xlsx .xls .xlsm .xlsb .ods",
        "Save the sheet as CSV in UTF-8, or pass what pandas.read_excel reads of it to gnomon.map.",
    ),
    (".dta", "Pass what pandas.read_stata reads of it to gnomon.map, or in Stata export delimited using FILE.csv."),
    (
        ".sav .zsav .por",
        "Pass what pandas.read_spss, which needs pyreadstat, reads of it to gnomon.map, or save it as CSV in SPSS.",
    ),
    (".sas7bdat .xpt", "Pass what pandas.read_sas reads of it to gnomon.map, or write CSV by PROC EXPORT in SAS."),
    (
        ".rds .rda .rdata",
        "In R write its table by arrow::write_parquet(table, 'FILE.parquet') or write.csv(table, 'FILE.csv').",
    ),
    (
        ".xyz .extxyz .pdb .gro .dcd .xtc .trr .nc",
        "Of frames make a table of features, such as distances and dihedral angles, by MDAnalysis, mdtraj or "
        "ase.io.read(path, ':'), and pass it to gnomon.map.",
    ),
    (".mat", "Read it by scipy.io.loadmat, from version 7.3 on by h5py, and pass one of its arrays to gnomon.map."),
    (".nwb", "Read it by pynwb, and pass a table of it, such as counts of spikes in bins of time, to gnomon.map."),
    (".json", "Pass what pandas.read_json reads of it, or a list of records, to gnomon.map."),
    (
        ".jsonl .ndjson",
        "Pass what pandas.read_json(path, lines=True) reads of it to gnomon.map; where a column holds vectors, "
        "numpy.stack(table['embedding']).",
    ),
    (".pkl .pickle .joblib", "Load it if you trust who wrote it, and pass the table in it to gnomon.map."),
    (".pt .pth .safetensors", "Load it by torch or safetensors, and pass a tensor of it to gnomon.map."),
    (".db .sqlite .sqlite3", "Pass what pandas.read_sql reads of it to gnomon.map."),
    (
        ".fcs",
        "Read it by readfcs or flowkit, transform its channels, such as by numpy.arcsinh(x / 150), and pass them to "
        "gnomon.map.",
    ),
    (".mtx", "Pass what scanpy.read_10x_mtx reads of its folder, or scipy.io.mmread(path).tocsr(), to gnomon.map."),
    (".loom", "Pass what anndata.io.read_loom reads of it to gnomon.map."),
    (".arff", "Pass pandas.DataFrame(scipy.io.arff.loadarff(path)[0]) to gnomon.map."),
    (
        ".vcf .ped",
        "Make a table of genotypes 0, 1 and 2, a row for each person, by plink --recode A or scikit-allel, and pass it "
        "to gnomon.map.",
    ),
    (".fits", "Pass astropy.table.Table.read(path).to_pandas(), or the array of its spectra, to gnomon.map."),
    (
        ".wav .mp3 .flac .ogg",
        "Make a table of features, a row for each recording, such as means of its mel spectrogram by librosa, and pass "
        "it to gnomon.map.",
    ),
)
_REMEDIES = {end: remedy for ends, remedy in _OF_PROGRAMS for end in ends.split()}


def remedy_for(end: str) -> str:
    """Return what to do with a file whose name ends so, such as ".xlsx"; empty where it is not known."""
    return _REMEDIES.get(end.lower(), "")
