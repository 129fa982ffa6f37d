import type { Drawn } from './drawn.js'
import type { Profile } from './history.js'
import type { Credential, Kind, Owner, Person } from './world.js'

/** Who may take part, about whose account, and in which share of all histories. */
const parts: readonly (readonly [owner: string, actor: string, kind: Kind, share: number])[] = [
  ['ada', 'phone', 'device', 1],
  ['ada', 'laptop', 'device', 0.8],
  ['ada', 'mailbox', 'mailbox', 1],
  ['bob', 'tablet', 'device', 0.7],
  ['bob', 'inbox', 'mailbox', 0.7],
  ['bob', 'left tab', 'tab', 0.5],
  ['bob', 'right tab', 'tab', 0.5],
  ['cora', 'key phone', 'device', 0.7],
  ['cora', 'letters', 'mailbox', 0.4],
  ['dora', 'newcomer', 'newcomer', 0.4],
  ['mill', 'machine', 'machine', 0.4],
  ['ada', 'administrator', 'administrator', 0.6],
  ['ada', 'token thief', 'tokenThief', 0.5],
  ['ada', 'link thief', 'linkThief', 0.6],
  ['ada', 'password thief', 'passwordThief', 0.5],
  ['cora', 'code thief', 'codeThief', 0.6],
  ['mill', 'machine thief', 'machineThief', 0.3],
  ['dora', 'squatter', 'squatter', 0.3],
  ['ada', 'guesser', 'guesser', 0.3],
  ['shop', 'policy maker', 'policyMaker', 0.3],
  ['shop', 'editor', 'editor', 1],
  ['shop', 'second editor', 'editor', 0.8],
  ['shop', 'third editor', 'editor', 0.4],
]

/** Histories in which the shop's configuration is edited, which leaves the others the less time. */
const editedShare = 0.2

interface Known {
  readonly owners: readonly Owner[]
  readonly credential: Credential
  readonly cast: readonly string[] | undefined
}

/** Everybody who takes part in this history: its seed leaves some of them out. */
export function castOf(
  draw: Drawn,
  seed: number,
  { owners, credential, cast }: Known,
): readonly Person[] {
  const jar = { cookie: '', recognition: '' }
  const isEdited = draw.chance(editedShare)
  return parts.flatMap(([name, actor, kind, share]): readonly Person[] => {
    const owner = owners.find((one) => one.name === name)
    const isDrawn = draw.chance(share) && (kind !== 'editor' || isEdited)
    if (owner === undefined || !(cast?.includes(actor) ?? isDrawn)) return []
    const tokens = { access: '', refresh: '', recognition: '', session: '', ticket: '', code: '' }
    const password = kind === 'squatter' ? `correct horse squatter ${seed}` : ''
    const own = kind === 'machine' ? credential : null
    const underway = { request: null, exchange: null }
    const known = { password, credential: own, revision: 1 }
    return [{ actor, kind, owner, ...tokens, ...known, jar, ...underway }]
  })
}

/** Half of all histories are plain. In the others clocks differ, guesses are limited, or the denylist is lost. */
export function profileOf(draw: Drawn): Profile {
  const isSkewed = draw.chance(0.2)
  const skew = (): number => (isSkewed ? draw.below(20_001) - 10_000 : 0)
  return {
    skews: [skew(), skew(), skew()],
    lockoutThreshold: draw.chance(0.2) ? 5 : 0,
    losesDenylist: draw.chance(0.15),
    lostReplies: 0.01,
  }
}
