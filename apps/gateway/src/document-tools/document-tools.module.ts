import { Module } from '@nestjs/common';
import { DataprepModule } from '../dataprep/dataprep.module.js';
import { MegaServicesModule } from '../mega-services/mega-services.module.js';
import { BuiltInTools } from './built-in-tools.js';
import { DocumentReader } from './document-reader.js';
import { PassageSearch } from './search.tool.js';

/** The tools over documents: search, find and open, for MCP clients and for models that call tools. */
@Module({
  imports: [DataprepModule, MegaServicesModule],
  providers: [BuiltInTools, DocumentReader, PassageSearch],
  exports: [BuiltInTools, DocumentReader, PassageSearch],
})
export class DocumentToolsModule {}
