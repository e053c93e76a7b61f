import { AudioController, SpeechController, AsrController, Transcription, Synthesis } from '#audio-api';
import { Module } from '@nestjs/common';
import { ModelsModule } from '../models/models.module.js';
import { RemoteSynthesis } from './remote-synthesis.js';
import { RemoteTranscription } from './remote-transcription.js';

/** Transcription and speech, by the services over NATS. */
@Module({
  imports: [ModelsModule],
  controllers: [AudioController, SpeechController, AsrController],
  providers: [
    { provide: Transcription, useClass: RemoteTranscription },
    { provide: Synthesis, useClass: RemoteSynthesis },
  ],
  exports: [Transcription, Synthesis],
})
export class AudioModule {}
