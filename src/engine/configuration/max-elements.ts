import type { FieldDeclaration } from './config-declaration.js'

const ceiling = 50

/** How many elements a record list may have: its `max`, never more than 50; 50 without one. */
export function maxElements(declaration: Pick<FieldDeclaration, 'max'> | undefined): number {
  const max = declaration?.max ?? 0
  return max > 0 ? Math.min(max, ceiling) : ceiling
}
