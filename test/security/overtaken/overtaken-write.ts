import { expect } from 'vitest'
import type { CollectionName } from '../../../src/model/collections.js'
import type { Scalar } from '../../../src/ports/store.js'
import { type OauthHost, oauthHost } from '../../contract/oauth/oauth-host.js'
import type { Reply } from '../../support/hosts/http-client.js'
import { outcomeOf } from '../../support/hosts/open-host.js'
import { type Fields, otherProcess } from './other-process.js'

/** What the caller does, whose write is overtaken: a request, or a call of the host's code. */
export type Act = () => Promise<Reply | string>

/** What another process does to one field, and what has to come of it. */
export interface Change {
  readonly value: Scalar | ((seen: Fields) => Scalar)
  /** What the caller is told. */
  readonly outcome: string
  /**
   * What becomes of the other process's value. It `stays` by default; `goes on` where the caller reads it
   * and then writes what follows from it; `goes` where the document is removed afterwards.
   */
  readonly left?: 'goes on' | 'goes'
}

/** A guarded write of the library, with each field that its guard has to ask for. */
export interface OvertakenWrite {
  readonly collection: CollectionName
  /** Default: an update. */
  readonly write?: 'take'
  /** Which write of that kind in the act. Default: the first. */
  readonly nth?: number
  /** Leads up to the act. */
  readonly begin: (host: OauthHost) => Promise<Act>
  /** By field. */
  readonly changes: Readonly<Record<string, Change>>
  /** Settings beside those of all rows. */
  readonly settings?: Readonly<Record<string, string | number | boolean>>
}

export type OvertakenWrites = Readonly<Record<string, OvertakenWrite>>

/** A row for each field, for `it.each`. */
export function rowsOf(writes: OvertakenWrites) {
  return Object.entries(writes).flatMap(([name, write]) =>
    Object.entries(write.changes).map(([field, change]) => ({ name, field, write, change })),
  )
}

async function resultOf(act: Act): Promise<string> {
  try {
    const result = await act()
    return typeof result === 'string' ? result : outcomeOf(result)
  } catch (error) {
    return `thrown ${Object(error).code ?? error}`
  }
}

const base = {
  emailVerificationRequired: false,
  webauthnMode: 'passwordless',
  trustedDeviceClientEnabled: true,
} as const

/** Fails unless the write is given up, and the other process's change survives. */
export async function expectGivenUp({ field, write, change }: ReturnType<typeof rowsOf>[number]) {
  const other = otherProcess()
  const settings = { ...base, ...write.settings }
  const { wrapBackend } = other
  // A code would be a way in for whoever loses the last account at a provider.
  const host = await oauthHost({ settings, wrapBackend, mailedCode: false })
  const act = await write.begin(host)
  await host.auth.close()
  const { value, outcome, left = 'stays' } = change
  other.runAhead({
    collection: write.collection,
    write: write.write ?? 'update',
    nth: write.nth ?? 1,
    field,
    value: typeof value === 'function' ? value : () => value,
  })
  const told = await resultOf(act)
  // Some writes are made beside the reply.
  await host.auth.close()
  const stands = { true: 'stays', false: 'goes on', null: 'goes' }[`${await other.stands()}`]
  expect([other.fate(), told, stands]).toEqual(['not made', outcome, left])
}
