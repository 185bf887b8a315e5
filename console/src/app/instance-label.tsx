import { label } from '../api/settings.ts';

const COLOURS = ['#b02a37', '#8a4b08', '#1b6b3a', '#1c5fa8', '#6b3fa0', '#8c2f6b'] as const;

/** Label of this instance, in the same colour wherever it appears; red for production. */
export function InstanceLabel() {
  if (label === '') return null;
  return (
    <span class="instance" style={{ '--instance': colourOf(label) }} title="Label of this instance">
      {label}
    </span>
  );
}

function colourOf(text: string): string {
  if (/prod/i.test(text)) return COLOURS[0];
  const sum = [...text].reduce((total, character) => (total * 31 + (character.codePointAt(0) ?? 0)) % 9973, 7);
  return COLOURS[1 + (sum % (COLOURS.length - 1))] ?? COLOURS[1];
}
