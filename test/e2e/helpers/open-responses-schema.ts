import { existsSync, readFileSync } from 'node:fs';
import { testData } from '#platform/foundation';
import { Ajv } from 'ajv';
import { schemaValidator, type Validate } from './openai-schema.js';

const document = testData('schemas/open-responses.openapi.json');

function openResponsesValidator(): Validate | undefined {
  if (!existsSync(document)) {
    console.warn(
      `Skipped: ${document} is absent (see "Test data" in CONTRIBUTING.md): bodies are not checked against it.`,
    );
    return undefined;
  }
  const { components } = JSON.parse(readFileSync(document, 'utf8')) as { components: unknown };
  const ajv = new Ajv({ strict: false, allErrors: true, validateFormats: false, logger: false });
  ajv.addSchema({ $id: 'open-responses', components });
  return (schema, body) => {
    const check = ajv.getSchema(`open-responses#/components/schemas/${schema}`);
    if (!check) throw new Error(`The document has no schema ${schema}.`);
    return check(body) === true
      ? []
      : (check.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
  };
}

/** `response.output_text.delta` → `ResponseOutputTextDelta`. */
function pascalCase(type: string): string {
  return type.replaceAll(/(^|[._])(\w)/g, (_match, _separator, letter: string) => letter.toUpperCase());
}

/** Event types whose schema OpenAI names otherwise than by its type. */
const openAiEventNames: Readonly<Record<string, string>> = {
  error: 'ResponseErrorEvent',
  'response.output_text.delta': 'ResponseTextDeltaEvent',
  'response.output_text.done': 'ResponseTextDoneEvent',
};

/** Event types whose schema Open Responses names otherwise. */
const openResponsesEventNames: Readonly<Record<string, string>> = {
  'response.reasoning_summary_text.delta': 'ResponseReasoningSummaryDelta',
  'response.reasoning_summary_text.done': 'ResponseReasoningSummaryDone',
};

export interface ResponseValidators {
  /** Problems of a response object by both documents. */
  response(body: unknown): string[];
  /** Problems of a stream's event by both documents. */
  event(event: { type: string }): string[];
  /** Problems by OpenAI's document alone: of lists, conversations and what else Open Responses does not describe. */
  openai: Validate;
}

/**
 * Open Responses of 2026-04-24 knows tools of type function alone and of a json_schema format no schema; it has no items
 * of tools that the server runs, no file_citation annotations and no
 * compaction, which OpenAI's document has: what shows them is checked by OpenAI's alone.
 */
const goesBeyondOpenResponses = (body: unknown) =>
  /"type":"(custom|namespace|custom_tool_call|json_schema|web_search|local_shell|file_search_call|file_citation|compaction|mcp_\w+|mcp)"|(file_search_call|custom_tool_call_input|mcp_\w+)\./.test(
    JSON.stringify(body),
  );

/** Validators of both official documents; undefined, with a message, where one is absent. */
export function responseValidators(): ResponseValidators | undefined {
  const openai = schemaValidator();
  const openResponses = openResponsesValidator();
  if (!openai || !openResponses) return undefined;
  const both = (openAiName: string, openResponsesName: string, body: unknown) => [
    ...openai(openAiName, body).map((problem) => `openai ${openAiName} ${problem}`),
    ...(goesBeyondOpenResponses(body)
      ? []
      : openResponses(openResponsesName, body).map(
          (problem) => `open responses ${openResponsesName} ${problem}`,
        )),
  ];
  return {
    openai,
    response: (body) => both('Response', 'ResponseResource', body),
    event: (event) => {
      const name = pascalCase(event.type);
      const openResponsesName = openResponsesEventNames[event.type] ?? name;
      return both(
        openAiEventNames[event.type] ?? `${name.replace('Mcp', 'MCP')}Event`,
        `${openResponsesName}StreamingEvent`,
        event,
      );
    },
  };
}
