import { readFileSync } from 'node:fs'
import type { ContractHost, HostKind, HostOptions } from '../../support/hosts/hosts.js'
import type { Reply } from '../../support/hosts/http-client.js'
import { openHost } from '../../support/hosts/open-host.js'
import { withoutLimits } from '../../support/hosts/without-limits.js'
import { trusting } from '../../support/people/trusted-device.js'

/** One theft, played against the mounted library. */
export interface Theft {
  /** What the thief gets with the stolen thing, in a word: `200`, `401 session_revoked`. */
  use(): Promise<string>
  /** A use that is seen to work before the end comes, where `use` would spend the thing. */
  twin?(): Promise<string>
  /** What ends it; nothing for what its use ends, and for what goes on. */
  end?(): Promise<unknown>
  /** What `use` comes to while the thing is good, and after its end. */
  readonly works: string
  readonly after: string
}

/** By the words of the page: what is stolen, and of it what ends it or goes on. */
export type Thefts = Readonly<Record<string, (host: ContractHost) => Promise<Theft>>>

export interface Threat {
  readonly ends: Thefts
  /** `after` is what still works once the end came. */
  readonly meanwhile: Thefts
  /** Default: a host whose limits nobody meets, with trusted devices. */
  open?(kind: HostKind): Promise<ContractHost>
}

export interface ThreatRow {
  readonly ends: readonly string[]
  readonly meanwhile: readonly string[]
}

const usual = { ...withoutLimits, settings: { ...withoutLimits.settings, ...trusting.settings } }

/** Of one theft's own, closed with the test. */
export function openThreatened(kind: HostKind, options: HostOptions = {}): Promise<ContractHost> {
  const settings = { ...usual.settings, ...options.settings }
  return openHost({ ...usual, ...options, settings }, kind)
}

/** The table of `docs/threat-model.md`, by its first column. */
export function threatRows(): ReadonlyMap<string, ThreatRow> {
  const text = readFileSync(new URL('../../../docs/threat-model.md', import.meta.url), 'utf8')
  const lines = text
    .split('\n')
    .filter((line) => line.startsWith('| '))
    .slice(2)
  const rows = lines.map((line) => {
    const [stolen = '', , ends = '', meanwhile = ''] = line.slice(1, -1).split('|')
    return [stolen.trim(), { ends: phrasesOf(ends), meanwhile: phrasesOf(meanwhile) }] as const
  })
  return new Map(rows)
}

function phrasesOf(cell: string): readonly string[] {
  return cell
    .split(';')
    .map((phrase) => phrase.trim())
    .filter((phrase) => phrase !== '–')
}

export const at = (path: string): string => `/v1/auth/client${path}`

/** The outcome of a reply; of a redirect, what it tells the page. */
export function told(reply: Reply): string {
  const location = reply.headers.get('location')
  const code = location === null ? reply.code : new URL(location).searchParams.get('error')
  return code === undefined || code === null ? `${reply.status}` : `${reply.status} ${code}`
}
