"""Local linear geometry of data and of maps: Jacobians, frames, distortion ellipses."""
