import { effect, signal } from '@preact/signals';
import { remember, remembered } from './storage.ts';

export type Theme = 'system' | 'light' | 'dark';

export const theme = signal<Theme>(remembered<Theme>('theme', 'system'));

effect(() => {
  const { value } = theme;
  if (value === 'system') delete document.documentElement.dataset['theme'];
  else document.documentElement.dataset['theme'] = value;
  remember('theme', value);
});
