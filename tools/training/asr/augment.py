"""What a room, a microphone and a line do to speech."""
import numpy as np

from features import RATE


def fast_length(n):
    """The next length whose prime factors are 2, 3 and 5 only enough for a quick transform."""
    step = 1 << max(0, int(np.log2(max(n, 2))) - 4)
    return -(-n // step) * step


def resample(samples, factor):
    """`factor` times as many samples of the same sound; whatever the new rate cannot hold is cut off."""
    n = fast_length(len(samples))
    target = int(round(n * factor))
    spectrum = np.fft.rfft(samples, n)
    bins = target // 2 + 1
    spectrum = spectrum[:bins] if bins <= len(spectrum) else np.pad(spectrum, (0, bins - len(spectrum)))
    return (np.fft.irfft(spectrum, target) * (target / n))[:int(round(len(samples) * factor))].astype(np.float32)


def colored_noise(n, exponent, rng):
    """Noise with a power spectrum of 1 / f^exponent, deviation 1."""
    size = fast_length(n)
    spectrum = np.fft.rfft(rng.standard_normal(size).astype(np.float32))
    spectrum *= np.maximum(np.arange(len(spectrum)), 8.0) ** (-exponent / 2)
    noise = np.fft.irfft(spectrum, size)[:n]
    return (noise / (noise.std() + 1e-9)).astype(np.float32)


def filter_response(bins, rng):
    """A smooth gain over frequency (a microphone), often with the band of a telephone or an old recording."""
    hertz = np.linspace(0, RATE / 2, bins)
    knots = np.array([0, 150, 400, 1000, 2000, 3500, 6000, 8000])
    decibel = np.interp(hertz, knots, rng.normal(0, 4, len(knots)) + rng.normal(0, 3) * np.log2((knots + 100) / 1000))
    gain = 10 ** (decibel / 20)
    if rng.random() < 0.35:
        edge = rng.uniform(3300, 4000)
        gain *= 1 / (1 + np.exp(np.clip((hertz - edge) / rng.uniform(15, 80), -40, 40)))
    if rng.random() < 0.2:
        edge = rng.uniform(80, 300)
        gain *= 1 / (1 + np.exp(np.clip((edge - hertz) / 20, -40, 40)))
    return gain


def room(n, rng):
    """Spectrum of a room's response: the direct sound and an exponentially falling tail."""
    length = int(RATE * rng.uniform(0.1, 0.5))
    tail = rng.standard_normal(length) * 10 ** (-3 * np.arange(length) / length)
    tail[:int(RATE * rng.uniform(0.001, 0.02))] = 0
    tail *= 10 ** (-rng.uniform(-2, 18) / 20) / (np.sqrt((tail ** 2).sum()) + 1e-9)
    tail[0] = 1
    return np.fft.rfft(tail, n)


def augment(samples, rng, background=None, clean=False):
    """Samples at 16 kHz -> the same speech somewhere else. `background`: other speech that may be heard behind it."""
    n = fast_length(len(samples) + RATE // 2)
    spectrum = np.fft.rfft(samples, n)
    if rng.random() < 0.8:
        spectrum *= filter_response(len(spectrum), rng)
    if not clean and rng.random() < 0.4:
        spectrum *= room(n, rng)
    result = np.fft.irfft(spectrum, n)[:len(samples)].astype(np.float32)
    level = result.std() + 1e-9
    if rng.random() < 0.85:
        noise = colored_noise(len(result), rng.uniform(0, 2), rng)
        if rng.random() < 0.3:
            noise *= np.interp(np.arange(len(noise)), np.linspace(0, len(noise), 8), rng.uniform(0.1, 1.5, 8))
        result += noise * level * 10 ** (-(rng.uniform(35, 60) if clean else rng.triangular(4, 25, 50)) / 20)
    if background is not None and not clean and rng.random() < 0.12:
        behind = np.resize(background, len(result))
        result += behind * (level / (behind.std() + 1e-9)) * 10 ** (-rng.uniform(10, 25) / 20)
    result *= 10 ** (-rng.uniform(0, 30) / 20) / (np.abs(result).max() + 1e-9)
    if rng.random() < 0.05:
        result = np.clip(result * rng.uniform(1.5, 4), -np.abs(result).max(), np.abs(result).max())
    return np.round(np.clip(result, -1, 1) * 32767).astype(np.float32) / 32768
