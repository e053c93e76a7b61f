import { Module } from '@nestjs/common';
import { FileContents } from './file-contents.js';
import { FilesController } from './files.controller.js';
import { FilesService } from './files.service.js';
import { UploadsController } from './uploads.controller.js';
import { UploadsService } from './uploads.service.js';

/** Files and uploads in parts. */
@Module({
  controllers: [FilesController, UploadsController],
  providers: [FileContents, FilesService, UploadsService],
  exports: [FileContents],
})
export class FilesModule {}
