import { createHash } from 'node:crypto'
import { memory } from '../../adapters/memory/index.js'
import type { Backend } from '../../src/ports/backend.js'
import { fakeClock } from '../../src/testing/fake-clock.js'
import { decide } from './decide.js'
import { drawn } from './drawn.js'
import type { History, Rotation } from './history.js'
import { recordedWrites } from './recorded-writes.js'
import { type Surroundings, startReplica } from './replica.js'
import { scheduler } from './scheduler.js'
import { synchronousSigning } from './synchronous-signing.js'
import { stuckOwners } from './way-in.js'
import type { Owner, Person, World } from './world.js'

const kinds: readonly (readonly [owner: 'ada' | 'bob', actor: string, kind: Person['kind']])[] = [
  ['ada', 'phone', 'device'],
  ['ada', 'laptop', 'device'],
  ['ada', 'mailbox', 'mailbox'],
  ['bob', 'tablet', 'device'],
  ['bob', 'inbox', 'mailbox'],
  ['ada', 'thief', 'thief'],
  ['ada', 'mail thief', 'thief'],
  ['ada', 'administrator', 'administrator'],
]

/** Everybody who takes part in this history: its seed leaves some of them out. */
function peopleOf(world: Pick<World, 'draw' | 'owners'>): readonly Person[] {
  return kinds.flatMap(([name, actor, kind]): readonly Person[] => {
    const owner = world.owners.find((one) => one.name === name)
    const isOptional = kind === 'thief' || kind === 'administrator'
    if (owner === undefined || (isOptional && world.draw.chance(0.4))) return []
    const tokens = { access: '', refresh: '', session: '' }
    return [{ actor, kind, owner, ...tokens, request: null, exchange: null }]
  })
}

async function startWorld(
  seed: number,
  steps: number,
  { around, tell, note }: Starting,
): Promise<World> {
  const draw = drawn(seed)
  const clock = fakeClock(Date.UTC(2026, 0, 1))
  const held = scheduler()
  const mails: World['mails'][number][] = []
  const owners: Owner[] = []
  const rotations: Rotation[] = []
  const notes = { note, rotated: (rotation: Rotation) => void rotations.push(rotation) }
  let step = (): number => 0
  const surroundings: Surroundings = {
    backend: held.backendOf(recordedWrites(around(memory()), notes)),
    clock,
    logged: note,
    mailed({ to, template, data }) {
      const owner = owners.find(({ email }) => email === to)?.name ?? ''
      if (template === 'resetPassword') mails.push({ owner, token: data.token, step: step() })
    },
  }
  const replicas = []
  for (const at of [0, 1, 2]) replicas.push(await startReplica(surroundings, `${seed} ${at}`))
  const passwords = new Map<string, Set<string>>()
  for (const name of ['ada', 'bob']) {
    const [email, password] = [`${name}@example.org`, `correct horse battery ${name}`]
    const given = { email, name: `${name} of ${seed}`, password, emailVerified: true }
    const user = await replicas[0]?.auth.client.users.create(given)
    owners.push({ name, email, id: user?.id ?? '', passwords: [password] })
    passwords.set(name, new Set([password]))
  }
  const people = peopleOf({ draw, owners })
  const fixed = { seed, draw, clock, scheduler: held, surroundings, replicas, owners, people }
  const counts = { steps, step: 0, requests: 0, restarts: 0 }
  const world: World = { ...fixed, ...counts, exchanges: [], mails, rotations, passwords, tell }
  step = () => world.step
  return world
}

interface Starting {
  readonly around: (backend: Backend) => Backend
  readonly tell: (line: string) => void
  readonly note: (text: string) => void
}

/** Plays one history. `around` stands between the replicas and the store, to plant a mistake. */
export async function simulate(
  seed: number,
  steps: number,
  around: Starting['around'] = (backend) => backend,
): Promise<History> {
  const restore = synchronousSigning()
  try {
    const hash = createHash('sha256')
    const written: string[] = []
    const world = await startWorld(seed, steps, {
      around,
      tell: (line) => hash.update(`${line}\n`),
      note: (text) => written.push(text),
    })
    for (; world.step < steps; world.step += 1) {
      await world.scheduler.quiet()
      await decide(world)
    }
    const stuck = await stuckOwners(world)
    return historyOf(world, { stuck, written: written.join('\n'), trace: hash.digest('hex') })
  } finally {
    restore()
  }
}

function historyOf(
  { steps, exchanges, mails, rotations, owners, passwords }: World,
  rest: Pick<History, 'stuck' | 'written' | 'trace'>,
): History {
  const secrets = new Map(
    owners.map(({ name }) => {
      const links = mails.filter(({ owner }) => owner === name).map(({ token }) => token)
      return [name, new Set([...(passwords.get(name) ?? []), ...links])]
    }),
  )
  const marks = new Map(owners.map(({ name, email, id }) => [name, [email, id]]))
  return { steps, exchanges, mails, rotations, secrets, marks, ...rest }
}
