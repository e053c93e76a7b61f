import { RpcServer } from '#platform/messaging';
import { readEnvironment, runMain, startService } from '#platform/service-kit';
import { ttsEnvironmentSchema } from './tts.service.js';
import { identity, TtsModule } from './tts.module.js';

await runMain(() => {
  const environment = readEnvironment(ttsEnvironmentSchema);
  return startService({
    identity,
    environment,
    port: environment.TTS_PORT,
    module: TtsModule.register(environment),
    transport: RpcServer,
  });
});
