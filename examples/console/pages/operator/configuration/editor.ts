import type { Draft } from './draft.ts'
import type { Module } from './module-types.ts'

/** What the parts of the page of an environment share. */
export interface Editor {
  readonly module: Module
  readonly draft: Draft
  /** To be called after each change of the draft. */
  readonly changed: () => void
  /** Where the errors of a key are shown. */
  readonly places: ErrorPlaces
}

/** Shows an error where it belongs; null takes it away. */
type Fail = (text: string | null) => void

export interface ErrorPlaces {
  add(key: string, place: { readonly fail: Fail; readonly focus: () => void }): void
  /** False where nothing on the page is of that key. */
  show(key: string, text: string): boolean
  clear(): void
  /** The longest of the keys that a sentence names in quotes; null for none. */
  keyIn(sentence: string): string | null
}

export function errorPlaces(): ErrorPlaces {
  const places = new Map<string, { readonly fail: Fail; readonly focus: () => void }>()
  return {
    add: (key, place) => places.set(key, place),
    show(key, text) {
      const place = places.get(key)
      place?.fail(text)
      place?.focus()
      return place !== undefined
    },
    clear() {
      for (const { fail } of places.values()) fail(null)
    },
    keyIn(sentence) {
      const named = [...places.keys()].filter((key) => sentence.includes(`"${key}"`))
      return named.sort((a, b) => b.length - a.length)[0] ?? null
    },
  }
}
