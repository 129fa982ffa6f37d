import type { ItemDeclaration } from '../engine/configuration/config-declaration.js'
import type { RecordElement } from '../engine/configuration/config-keys.js'
import type { IsPublicAddress } from './address-rules.js'

/** What the elements of a record list must be like. */
export interface ListRule {
  readonly items: readonly ItemDeclaration[]
  /** The sub-field that is judged beyond its type. */
  readonly item: string
  /** The code of a refused edit, behind the module's name. */
  readonly code: string
  /** What is wrong with that sub-field, which is not empty, as the second half of a sentence. */
  problem(text: string, element: RecordElement, given: ElementSource): string | null
}

/** Where an element comes from, and what judges literal IP addresses in it. */
export interface ElementSource {
  /** True for a first value, which may be for developing on this machine; false for an edit. */
  readonly firstValues: boolean
  readonly isPublicAddress: IsPublicAddress
}

/** A record list: its rule, and what a stored element reads as. */
export interface RecordList<Element> extends ListRule {
  /** None for an element that is left out. `warn` is told what becomes of a damaged one. */
  read(element: RecordElement, warn: (effect: string) => void): readonly Element[]
}

/** An element given as a first value. */
export interface InitialElement {
  /** Names the element for good: lower-case words joined by hyphens, at most 63 characters. */
  readonly slug: string
  /** Shown to administrators; the slug when left out. */
  readonly label?: string
}
