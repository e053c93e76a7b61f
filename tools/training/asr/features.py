"""Log-mel features as preprocessor_config.json describes them; the same numbers as libs/engine/speech/src/features."""
import numpy as np

RATE, SIZE, WINDOW, HOP, BANDS, LOWEST, HIGHEST, FLOOR = 16000, 512, 400, 160, 48, 50.0, 7600.0, 1e-5
SETTINGS = {
    "sampling_rate": RATE, "n_mels": BANDS, "n_fft": SIZE, "win_length": WINDOW, "hop_length": HOP, "fmin": LOWEST, "fmax": HIGHEST,
    "mel_scale": "htk", "mel_norm": "none", "center": False, "preemphasis": 0, "log": "natural", "log_floor": FLOOR,
    "normalisation": "utterance",
}


def mel_filters():
    """[SIZE / 2 + 1, BANDS]: triangles whose corners are evenly spaced on HTK's mel scale."""
    to_mel = lambda hertz: 2595 * np.log10(1 + hertz / 700)
    corners = 700 * (10 ** (np.linspace(to_mel(LOWEST), to_mel(HIGHEST), BANDS + 2) / 2595) - 1)
    hertz = np.arange(SIZE // 2 + 1)[:, None] * RATE / SIZE
    left, peak, right = corners[:-2], corners[1:-1], corners[2:]
    return np.maximum(0, np.minimum((hertz - left) / (peak - left), (right - hertz) / (right - peak))).astype(np.float32)


FILTERS = mel_filters()
HANN = np.zeros(SIZE, np.float32)
HANN[(SIZE - WINDOW) // 2:(SIZE + WINDOW) // 2] = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(WINDOW) / WINDOW)


def log_mel(samples):
    """Samples in [-1, 1] at 16 kHz -> float32 [frames, BANDS], mean 0 and deviation 1 over all values."""
    samples = np.asarray(samples, np.float32)
    if len(samples) < SIZE:
        samples = np.pad(samples, (0, SIZE - len(samples)))
    frames = np.lib.stride_tricks.sliding_window_view(samples, SIZE)[::HOP] * HANN
    power = np.abs(np.fft.rfft(frames, axis=1).astype(np.complex64)) ** 2
    values = np.log(np.maximum(power @ FILTERS, FLOOR))
    return ((values - values.mean()) / (values.std() + 1e-5)).astype(np.float32)
