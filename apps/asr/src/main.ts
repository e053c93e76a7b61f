import {
  AsrController,
  AudioController,
  audioLimits,
  audioLimitsOf,
  serveLiveAudio,
  ServedModelController,
  Transcription,
} from '#api/audio-api';
import { describeAsrModel } from '#platform/contracts';
import { modelService, runService } from '#platform/service-kit';
import multipart from '@fastify/multipart';
import { asrEnvironmentSchema } from './asr.environment.js';
import { AsrRpcController } from './asr.rpc.controller.js';
import { AsrService } from './asr.service.js';
import { LocalTranscription } from './local-transcription.js';
import { openTranscriber } from './open-transcriber.js';

await runService(
  modelService({
    identity: {
      service: 'asr',
      title: 'opea_service@asr',
      description: 'Transcribes audio files.',
      wrongMethodTexts: { '/v1/asr': 'The request of ASR fails.' },
    },
    environment: asrEnvironmentSchema,
    port: ({ ASR_PORT }) => ASR_PORT,
    loadsModel: true,
    configure: async (app, environment) => {
      await app.register(multipart);
      await serveLiveAudio(app, environment);
    },
    open: openTranscriber,
    probe: (transcriber, signal) => transcriber.check(signal),
    describe: describeAsrModel,
    parts: (environment) => ({
      controllers: [AsrController, AudioController, ServedModelController, AsrRpcController],
      providers: [
        { provide: audioLimits, useValue: audioLimitsOf(environment) },
        AsrService,
        { provide: Transcription, useClass: LocalTranscription },
      ],
    }),
  }),
);
