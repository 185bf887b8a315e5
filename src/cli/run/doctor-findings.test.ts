import { expect, it } from 'vitest';
import type { Finding } from '../../backend/diagnostics.ts';
import { printFindings, rankFindings } from './doctor-findings.ts';

const finding = (id: string, severity: Finding['severity'], cause = id): Finding => ({ id, severity, cause, remedy: 'fix it' });

it('prints errors, then warnings, then advice, and limits the advice of a kind', () => {
  const advice = Array.from({ length: 500 }, (_, i) => finding('lint:write-only', 'warning', `column ${i}`));
  const ranked = rankFindings([...advice, finding('no-primary-key', 'warning'), finding('inconsistent', 'error')]);
  expect(ranked.map(({ id }) => id).slice(0, 3)).toEqual(['inconsistent', 'no-primary-key', 'lint:write-only']);
  expect(printFindings(ranked).split('\n')).toEqual([
    '1 error, 1 warning, 500 advice',
    'error [inconsistent] inconsistent',
    '  -> fix it',
    'warning [no-primary-key] no-primary-key',
    '  -> fix it',
    ...['column 0', 'column 1', 'column 2'].flatMap((cause) => [`advice [lint:write-only] ${cause}`, '  -> fix it']),
    '  and 497 more of this kind; svc doctor --json lists all',
  ]);
});
