import { describe, expect, it } from 'vitest';
import type { JsonObject } from './json.ts';
import { bodyDraft, responseTransformOf, transformDraft, transformOf, variablesIn } from './webhook-transform.ts';

const WHOLE = {
  version: 2,
  template_engine: 'Kriti',
  method: 'PUT',
  url: '{{$base_url}}/users',
  query_params: { role: '{{$session_variables}}', all: '' },
  request_headers: { add_headers: { 'x-a': 'b' }, remove_headers: ['cookie', 'user-agent'] },
  body: { action: 'transform', template: '{{$body.input}}' },
};

const TRANSFORMS: readonly JsonObject[] = [
  WHOLE,
  { ...WHOLE, query_params: 'a={{$body.input.a}}' },
  { ...WHOLE, body: { action: 'remove' } },
  { ...WHOLE, body: { action: 'x_www_form_urlencoded', form_template: { a: '{{$body.input.a}}' } } },
  { version: 2, template_engine: 'Kriti', method: 'GET' },
];

describe('form of a transform', () => {
  it.each(TRANSFORMS)('round-trips %j', (transform) => {
    expect(transformOf(transformDraft(transform))).toEqual(transform);
  });

  it('is undefined if it changes nothing', () => {
    expect(transformOf(transformDraft(undefined))).toBeUndefined();
    expect(responseTransformOf(bodyDraft(undefined))).toBeUndefined();
  });

  it('reads the body of version 1 as a template', () => {
    expect(transformOf(transformDraft({ version: 1, body: '{{$body}}' }))?.['body']).toEqual({
      action: 'transform',
      template: '{{$body}}',
    });
  });

  it('lists the variables of a URL', () => {
    expect(variablesIn('{{HOST}}/a/{{ PATH_2 }}/{{HOST}}')).toEqual(['HOST', 'PATH_2']);
  });
});
