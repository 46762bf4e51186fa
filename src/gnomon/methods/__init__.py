"""The methods as scikit-learn estimators, each a choice of parts."""
