import type { Reply } from '../../support/hosts/http-client.js'

/** Something that the library handed out and that stands for something, live on the test's host. */
export interface Artefact {
  readonly value: string
  /** The slots that it is made for, the one first that the last check tries. Elsewhere it must be refused. */
  readonly goodAs: readonly string[]
}

/** Sends a request in which everything is right but for this one value. */
export type Show = (value: string) => Promise<Reply>

/** Artefacts that are made together, and the slots that they, or others, are put into. */
export interface Family {
  readonly artefacts: Readonly<Record<string, Artefact>>
  readonly slots: Readonly<Record<string, Show>>
}
