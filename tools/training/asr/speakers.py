"""Voices: espeak-ng through its library (with the times of its phonemes), flite through its command."""
import ctypes
import os
import subprocess
import tempfile
import wave
import zlib

import numpy as np

ESPEAK_RATE = 22050
ACCENTS = "en en-US en-GB-scotland en-GB-x-rp en-GB-x-gbcwmd en-029 en-US-nyc".split()  # files in espeak-ng-data/lang/gmw
HELD_OUT_ACCENT = "en-GB-x-gbclan"
HELD_OUT_VARIANTS = "f4 Andy".split()
VARIANTS = ("m1 m2 m3 m4 m5 m6 m7 m8 f1 f2 f3 f5 klatt klatt2 klatt3 klatt4 klatt5 klatt6 whisper croak adam Alex Alicia Andrea Annie antonio "
            "aunty belinda benjamin boris caleb david Denis Diogo ed edward edward2 Gene Gene2 grandma grandpa gustave Henrique Hugo iven iven2 "
            "iven3 iven4 Jacky john kaukovalta Lee linda marcelo Marco Mario max Michael miguel Mike michel norbert Nguyen pablo paul pedro quincy "
            "rob robert sandro shelby steph steph2 steph3 travis Tweaky victor zac anika").split()
PHONEMES = 96  # buckets of espeak's phoneme names; bucket 0 is silence


def phoneme_bucket(name):
    letters = "".join(c for c in name.decode("latin1") if c.isalpha() or c in "@3&0")
    return 1 + zlib.crc32(letters.encode()) % (PHONEMES - 1) if letters else 0


class _Event(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int), ("identifier", ctypes.c_uint), ("text_position", ctypes.c_int), ("length", ctypes.c_int),
                ("audio_position", ctypes.c_int), ("sample", ctypes.c_int), ("user_data", ctypes.c_void_p), ("string", ctypes.c_char * 8)]


_Callback = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_short), ctypes.c_int, ctypes.POINTER(_Event))


class Espeak:
    """One espeak-ng of this process."""

    RATE, PITCH, RANGE = 1, 3, 4
    PHONEME_EVENT = 7

    def __init__(self):
        self.library = ctypes.CDLL("libespeak-ng.so.1")
        if self.library.espeak_Initialize(2, 500, None, 1) != ESPEAK_RATE:
            raise RuntimeError("espeak-ng did not start at 22050 Hz")
        self.pieces, self.phonemes = [], []
        self.callback = _Callback(self._receive)  # kept: the library calls it later
        self.library.espeak_SetSynthCallback(self.callback)

    def _receive(self, samples, count, events):
        if samples and count > 0:
            self.pieces.append(np.ctypeslib.as_array(samples, (count,)).copy())
        index = 0
        while events[index].type != 0:
            if events[index].type == self.PHONEME_EVENT:
                self.phonemes.append((events[index].sample, phoneme_bucket(events[index].string)))
            index += 1
        return 0

    def speak(self, text, voice, rate=165, pitch=50, pitch_range=50):
        """-> samples in [-1, 1] at 22,050 Hz, [(first sample, phoneme bucket)]"""
        if self.library.espeak_SetVoiceByName(f"gmw/{voice}".encode()) != 0:
            raise RuntimeError(f"espeak-ng has no voice {voice}")
        for parameter, value in ((self.RATE, rate), (self.PITCH, pitch), (self.RANGE, pitch_range)):
            self.library.espeak_SetParameter(parameter, int(value), 0)
        self.pieces, self.phonemes = [], []
        content = text.encode() + b"\0"
        self.library.espeak_Synth(content, len(content), 0, 1, 0, 1, None, None)
        return np.concatenate(self.pieces).astype(np.float32) / 32768, self.phonemes


def flite(text, voice):
    """One of flite's voices that are made from people's recordings -> samples at 16,000 Hz."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "out.wav")
        subprocess.run(["flite", "-voice", voice, "-t", text, "-o", path], check=True, capture_output=True)
        return read_wave(path)[0]


def read_wave(path):
    with wave.open(path) as file:
        samples = np.frombuffer(file.readframes(file.getnframes()), np.int16).astype(np.float32) / 32768
        return samples.reshape(-1, file.getnchannels()).mean(1), file.getframerate()
