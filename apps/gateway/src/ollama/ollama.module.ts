import { Module } from '@nestjs/common';
import { ChatModule } from '../chat/chat.module.js';
import { CompletionsModule } from '../completions/completions.module.js';
import { OpenAiModule } from '../openai/openai.module.js';
import { OllamaController } from './ollama.controller.js';

/** Ollama's API. */
@Module({
  imports: [ChatModule, CompletionsModule, OpenAiModule],
  controllers: [OllamaController],
})
export class OllamaModule {}
