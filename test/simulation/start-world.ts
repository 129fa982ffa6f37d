import assert from 'node:assert/strict'
import { memory } from '../../adapters/memory/index.js'
import type { Backend } from '../../src/ports/backend.js'
import type { Mail } from '../../src/ports/host.js'
import { fakeClock } from '../../src/testing/fake-clock.js'
import { castOf, profileOf } from './cast.js'
import { drawn } from './drawn.js'
import type { Ending, MailedLink, Opening, Recorded, Revised, Rotation } from './history.js'
import { type Plant, plantedBackend, plantedClock, plantedHasher } from './plant.js'
import { recordedWrites } from './recorded-writes.js'
import { ask, type Replica, type Surroundings, startReplica } from './replica.js'
import { appCode } from './requests/prepared.js'
import { scheduler } from './scheduler.js'
import { stubHasher } from './stub-hasher.js'
import { keepSecret, type Owner, revealed, type World } from './world.js'

export interface Starting {
  readonly seed: number
  readonly steps: number
  readonly plant: Plant
  readonly tell: (line: string) => void
  readonly note: (text: string) => void
}

const startedAt = Date.UTC(2026, 0, 1)

/** Three replicas over one store, five accounts of which one is not there yet, and those who take part. */
export async function startWorld({ seed, steps, plant, tell, note }: Starting): Promise<World> {
  const draw = drawn(seed)
  const profile = { ...profileOf(draw), ...plant.profile }
  const clock = fakeClock(startedAt)
  const held = scheduler()
  const owners: Owner[] = []
  const told = tellings(owners, note)
  const { backend, loseDenylist } = losingDenylist(plantedBackend(memory(), plant, told.hasBegun))
  const surroundings: Surroundings = {
    ...{ loseDenylist, logged: note, mailed: told.mailed },
    clock: plantedClock(clock, plant, told.hasBegun),
    hasher: plantedHasher(stubHasher(), plant, told.hasBegun),
    backend: held.backendOf(recordedWrites(backend, told.notes)),
    settings: { lockoutThreshold: profile.lockoutThreshold },
  }
  const replicas: Replica[] = []
  for (const at of [0, 1, 2] as const) {
    const skewMs = profile.skews[at]
    replicas.push(await startReplica(surroundings, { name: `${seed} ${at}`, skewMs }))
  }
  const [door] = replicas
  assert(door !== undefined)
  const secrets: World['secrets'] = new Map()
  for (const name of ['ada', 'bob', 'cora'] as const) {
    owners.push(await opened(door, { name, seed, now: clock.now() + profile.skews[0] }, secrets))
  }
  for (const name of ['dora', 'mill', 'shop']) {
    const email = `${name}@example.org`
    owners.push({ name, email, id: '', passwords: [], authenticator: null })
  }
  const made = await door.auth.operator.serviceAccounts.create({ name: 'mill' })
  assert(made.created)
  const credential = revealed(made.credential)
  keepSecret({ secrets }, 'machine', credential.clientSecret)
  const machine = { id: made.account.id, credentials: [credential] }
  const people = castOf(draw, seed, { owners, credential, cast: plant.cast })
  const fixed = { seed, profile, draw, clock, surroundings, replicas, owners, people, machine }
  const { mails, rotations, recorded, revised, openings, endings } = told
  const kept = { mails, rotations, recorded, revised, openings, endings, secrets }
  const counts = { steps, step: 0, requests: 0, denylistLost: null }
  const empty = { exchanges: [], restarts: [], byRequest: new Map(), struck: new Map() }
  const world: World = { ...fixed, ...kept, ...counts, ...empty, scheduler: held, tell }
  told.begins(world)
  return world
}

/** An account, with an authenticator app if it is the one of Cora. */
async function opened(
  door: Replica,
  { name, seed, now }: { readonly name: string; readonly seed: number; readonly now: number },
  secrets: World['secrets'],
): Promise<Owner> {
  const [email, password] = [`${name}@example.org`, `correct horse battery of ${name.slice(0, 1)}`]
  const given = { email, name: `${name} of ${seed}`, password, emailVerified: true }
  const { id } = await door.auth.client.users.create(given)
  keepSecret({ secrets }, name, password)
  const owner = { name, email, id, passwords: [password], authenticator: null }
  if (name !== 'cora') return owner
  const login = await ask(door, { path: '/mobile/login', body: { email, password } })
  const bearer = memberOf(login.body, 'accessToken')
  const body = { currentPassword: password }
  const begun = await ask(door, { path: '/mfa/totp', bearer, body })
  const secret = memberOf(begun.body, 'secret')
  const app = { ...owner, authenticator: { secret, backupCodes: [] } }
  const code = appCode(app, now)
  const confirmed = await ask(door, { path: '/mfa/totp/confirm', bearer, body: { code } })
  const { backupCodes }: { backupCodes: string[] } = JSON.parse(confirmed.body ?? '')
  for (const one of [secret, ...backupCodes]) keepSecret({ secrets }, name, one)
  return { ...owner, authenticator: { secret, backupCodes } }
}

function memberOf(body: string | null, name: string): string {
  const value: unknown = Reflect.get(JSON.parse(body ?? '{}'), name)
  assert(typeof value === 'string', `${name} in ${body}`)
  return value
}

/** What is heard of the library beside its replies. */
function tellings(owners: readonly Owner[], note: (text: string) => void) {
  const mails: MailedLink[] = []
  const rotations: Rotation[] = []
  const recorded: Recorded[] = []
  const revised: Revised[] = []
  const openings: Opening[] = []
  const endings: Ending[] = []
  let world: World | null = null
  const kinds: Partial<Record<Mail['template'], MailedLink['kind']>> = {
    resetPassword: 'reset',
    verifyEmail: 'verify',
  }
  return {
    ...{ mails, rotations, recorded, revised, openings, endings },
    hasBegun: () => world !== null,
    begins(begun: World): void {
      world = begun
    },
    mailed({ to, template, data }: Mail): void {
      const owner = owners.find(({ email }) => email === to)?.name ?? ''
      const kind = kinds[template]
      if (kind === undefined || !('token' in data) || world === null) return
      mails.push({ owner, kind, token: data.token, step: world.step })
      keepSecret(world, owner, data.token)
    },
    notes: {
      note,
      rotated: (rotation: Rotation) => void rotations.push(rotation),
      recorded: (record: Recorded) => void recorded.push(record),
      opened(session: string): void {
        openings.push({ session, request: world?.scheduler.current() ?? '' })
      },
      ended: (ending: Ending) => void endings.push(ending),
      revised(revision: Omit<Revised, 'step' | 'at'>): void {
        if (world !== null) revised.push({ ...revision, step: world.step, at: world.clock.now() })
      },
    },
  }
}

/** A denylist that may be lost, as one in a Redis without persistence. */
function losingDenylist(backend: Backend): { backend: Backend; loseDenylist: () => void } {
  let since: ReturnType<typeof memory>['denylist'] | null = null
  const current = (): Backend['denylist'] => since ?? backend.denylist
  const denylist: Backend['denylist'] = {
    ...backend.denylist,
    put: (entries) => current().put(entries),
    find: (ids) => current().find(ids),
    sweep: (before, limit) => current().sweep(before, limit),
  }
  return {
    backend: { ...backend, denylist },
    loseDenylist: () => {
      since = memory().denylist
    },
  }
}
