import type { Classifier } from '#engine/encoders';
import { projectRoot } from '#platform/foundation';
import { Module, type DynamicModule } from '@nestjs/common';
import { resolve } from 'node:path';
import { GuardrailController } from './guardrail.controller.js';
import type { GuardrailEnvironment } from './guardrail.environment.js';
import { GuardrailRpcController } from './guardrail.rpc.controller.js';
import { classifierToken, GuardrailService } from './guardrail.service.js';
import { checkLabels } from './model/judge-scores.js';
import { openClassifier } from './model/open-classifier.js';
import { RuleFile } from './rules/rule-file.js';

@Module({})
export class GuardrailModule {
  static register(environment: GuardrailEnvironment): DynamicModule {
    const path = resolve(projectRoot, environment.GUARDRAIL_RULES);
    return {
      module: GuardrailModule,
      controllers: [GuardrailController, GuardrailRpcController],
      providers: [
        { provide: classifierToken, useFactory: () => openClassifier(environment) },
        {
          provide: RuleFile,
          inject: [classifierToken],
          useFactory: (classifier?: Classifier) =>
            RuleFile.open(
              path,
              checkLabels(classifier && { id: classifier.info.id, labels: classifier.labels }),
            ),
        },
        GuardrailService,
      ],
    };
  }
}
