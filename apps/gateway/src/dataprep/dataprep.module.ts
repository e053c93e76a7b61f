import { IngestController, CatalogueController, IngestReceiver, Dataprep } from '#dataprep-api';
import { Module } from '@nestjs/common';
import { RemoteDataprep } from './remote-dataprep.js';

/** Data preparation, by its service over NATS. */
@Module({
  controllers: [IngestController, CatalogueController],
  providers: [IngestReceiver, { provide: Dataprep, useClass: RemoteDataprep }],
})
export class DataprepModule {}
