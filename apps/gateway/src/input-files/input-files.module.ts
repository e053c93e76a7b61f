import { Module } from '@nestjs/common';
import { FilesModule } from '../files/files.module.js';
import { InputFiles } from './input-files.js';

/** Files that come with a request, or are named by it, as text for the model. */
@Module({
  imports: [FilesModule],
  providers: [InputFiles],
  exports: [InputFiles],
})
export class InputFilesModule {}
