import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { buildDocument, routesOf } from '#platform/service-kit';
import { repositoryRoot } from '#platform/testing';
import { Validator } from '@seriousme/openapi-schema-validator';
import { describe, expect, it } from 'vitest';
import { controllersOf } from './controllers.js';

const apps = readdirSync(join(repositoryRoot, 'apps')).filter((app) => app !== 'launcher' && app !== 'web');

/** Folders whose controllers each service has: its own and the shared ones. */
const foldersOf = (app: string) => [`apps/${app}`, 'libs/platform/service-kit', 'libs/api/dataprep-api'];

async function documentOf(app: string) {
  const controllers = (await Promise.all(foldersOf(app).map(controllersOf))).flat();
  return buildDocument({ service: app, title: app, description: app }, controllers, '0.0.0');
}

describe('routes', () => {
  it('each has @ApiOperation or @HiddenRoute', async () => {
    const controllers = [...(await controllersOf('apps')), ...(await controllersOf('libs'))];
    const routes = controllers.flatMap(routesOf);
    expect(routes.length).toBeGreaterThan(40);
    expect(routes.filter(({ declaration }) => !declaration).map(({ name }) => name)).toEqual([]);
  });

  it('each that reads a body by a schema documents more of it than that it is an object', async () => {
    const controllers = [...(await controllersOf('apps')), ...(await controllersOf('libs'))];
    const empty: string[] = [];
    for (const controller of controllers) {
      const { paths, components } = buildDocument(
        { service: 'x', title: 'x', description: 'x' },
        [controller],
        '0.0.0',
      );
      for (const [path, methods] of Object.entries(paths)) {
        for (const [method, operation] of Object.entries(methods)) {
          const { requestBody } = operation as {
            requestBody?: { content: Record<string, { schema: object }> };
          };
          const schema = Object.values(requestBody?.content ?? {})[0]?.schema;
          if (schema && !/"(properties|anyOf|oneOf|allOf|\$ref)"/.test(JSON.stringify(schema)))
            empty.push(`${method} ${path}`);
        }
      }
      expect(Object.keys(components.schemas)).toContain('Error');
    }
    expect(empty).toEqual([]);
  });
});

describe.each(apps)('the document of %s', (app) => {
  it('is valid OpenAPI 3.1, all its references resolve, and operation ids are unique', async () => {
    const document = await documentOf(app);
    const text = JSON.stringify(document);
    const { valid, errors } = await new Validator().validate(JSON.parse(text) as Record<string, unknown>);
    expect(errors).toBeUndefined();
    expect(valid).toBe(true);
    for (const [, name] of text.matchAll(/"#\/components\/schemas\/([^"]+)"/g))
      expect(document.components.schemas).toHaveProperty([name ?? '']);
    const ids = [...text.matchAll(/"operationId":"([^"]+)"/g)].map(([, id]) => id);
    expect(new Set(ids).size).toBe(ids.length);
  });
});
