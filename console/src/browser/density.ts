import { computed, effect, signal } from '@preact/signals';
import { hasLargeControls } from './layout.ts';
import { remember, remembered } from './storage.ts';

export type Density = 'compact' | 'normal' | 'spacious';

/** Height of the rows of lists and grids. */
export const density = signal<Density>(remembered<Density>('density', 'normal'));

effect(() => {
  const { value } = density;
  if (value === 'normal') delete document.documentElement.dataset['density'];
  else document.documentElement.dataset['density'] = value;
  remember('density', value);
});

/** Height of a row in pixels, as in the style sheet: it depends on the density, the width of the page and the font size of the browser. */
export const rowHeight = computed(() => heightOf('--row', density.value, hasLargeControls.value));
/** Height of a row of a tree or another narrow list in pixels. */
export const lineHeight = computed(() => heightOf('--line', density.value, hasLargeControls.value));

/**
 * @param _density read so that a change of it is followed
 * @param _isLarge read so that a change of it is followed
 */
function heightOf(property: string, _density: Density, _isLarge: boolean): number {
  const style = getComputedStyle(document.documentElement);
  return Number.parseFloat(style.getPropertyValue(property)) * Number.parseFloat(style.fontSize);
}
