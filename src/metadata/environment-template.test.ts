import { expect, it } from 'vitest';
import { fillTemplate, isAboutVariables, variablesNotFound, variablesNotSet } from './environment-template.ts';

const environment = { HOST: 'example.org', SVC_GRAPHQL_ADMIN_SECRET: 'secret' };

it('replaces variables, and names those that are not set', () => {
  expect(fillTemplate('http://{{HOST}}/{{ HOST }}', environment)).toEqual({ text: 'http://example.org/example.org' });
  expect(fillTemplate('{{A}} {{HOST}} {{B}} {{A}}', environment)).toEqual({
    missing: [
      { name: 'A', isPermitted: true },
      { name: 'B', isPermitted: true },
    ],
  });
});

it.each([variablesNotSet, variablesNotFound])('sends no setting of the service, and says so: %o', (message) => {
  const filled = fillTemplate('http://evil/{{SVC_GRAPHQL_ADMIN_SECRET}}', environment);
  const reason = 'missing' in filled ? message(filled.missing) : '';
  expect(reason).toBe('environment variables starting with "SVC_GRAPHQL_" are not allowed in templates: {{SVC_GRAPHQL_ADMIN_SECRET}}');
  expect(isAboutVariables(reason)).toBe(false);
});
