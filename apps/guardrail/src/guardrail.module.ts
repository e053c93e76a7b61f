import { resolve } from 'node:path';
import { MessagingModule } from '#messaging';
import { projectRoot } from '#paths';
import { messagingOptions, ServiceKitModule, type ServiceIdentity } from '#service-kit';
import { Module, type DynamicModule } from '@nestjs/common';
import type { Classifier } from '#encoders';
import { GuardrailController } from './guardrail.controller.js';
import type { GuardrailEnvironment } from './guardrail.environment.js';
import { GuardrailRpcController } from './guardrail.rpc.controller.js';
import { GuardrailService } from './guardrail.service.js';
import { checkLabels } from './model/judge-scores.js';
import { classifierToken, openClassifier } from './model/open-classifier.js';
import { RuleFile } from './rules/rule-file.js';

export const identity: ServiceIdentity = {
  service: 'guardrail',
  title: 'opea_service@guardrail',
  description: 'Judges what users ask and models answer by the rules of a file, and by a classifier model.',
};

@Module({})
export class GuardrailModule {
  static register(environment: GuardrailEnvironment): DynamicModule {
    const path = resolve(projectRoot, environment.GUARDRAIL_RULES);
    return {
      module: GuardrailModule,
      imports: [
        ServiceKitModule.register(identity),
        MessagingModule.register(messagingOptions(identity, environment)),
      ],
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
