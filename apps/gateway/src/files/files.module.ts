import { Module } from '@nestjs/common';
import { FileContents } from './file-objects.js';
import { FilesController, FilesService } from './files.controller.js';
import { UploadsController, UploadsService } from './uploads.controller.js';

/** Files and uploads in parts. */
@Module({
  controllers: [FilesController, UploadsController],
  providers: [FileContents, FilesService, UploadsService],
  exports: [FileContents],
})
export class FilesModule {}
