import type { Collection, Doc } from '../../src/ports/store.js'
import { always } from '../adapters/wrong/wrong-adapter.js'
import type { Plant } from './plant.js'
import type { PredicateName } from './predicates/index.js'
import { stubHasher } from './stub-hasher.js'

/** A backend whose collections of this name differ. */
function collections(
  name: string,
  twist: <T extends Doc>(right: Collection<T>) => Partial<Collection<T>>,
): Plant {
  return {
    around: (backend) => ({
      ...backend,
      store: {
        ...backend.store,
        collection(spec) {
          const right = backend.store.collection(spec)
          return spec.name === name ? { ...right, ...twist(right) } : right
        },
      },
    }),
  }
}

const forgetful: Plant = {
  around: (backend) => ({
    ...backend,
    denylist: { ...backend.denylist, find: async () => [] },
  }),
}

const eager: Plant = {
  around: (backend) => ({
    ...backend,
    denylist: {
      ...backend.denylist,
      find: async (ids) =>
        ids.map((id) => ({ id, reason: 'revoked', expiresAt: Number.MAX_SAFE_INTEGER })),
    },
  }),
}

/** Families move on whatever their guard says. */
const unguarded = collections('client_refresh_tokens', (right) => ({
  update: (id, _guard, set) => right.update(id, always(id), set),
}))

/** A new password leaves the links from before it alone. */
const sameEpoch = collections('client_users', (right) => ({
  async update(id, guard, set) {
    const seen = await right.get(id)
    if (!('credentialEpoch' in set) || seen === null) return right.update(id, guard, set)
    const same: unknown = Reflect.get(seen, 'credentialEpoch')
    return right.update(id, guard, { ...set, credentialEpoch: same })
  },
}))

/** A link sets its password whatever became of the account since. */
const unasked = collections('client_users', (right) => ({
  update: (id, guard, set) =>
    right.update(id, 'passwordHash' in set && 'lastIntentId' in set ? always(id) : guard, set),
}))

/** A login that waits is not taken by the session that it becomes, … */
const untakenLogins = collections('client_challenges', (right) => ({ take: (id) => right.get(id) }))
/** … and the step of its code is forgotten. */
const stepless = collections('client_totp_factors', (right) => ({
  update: (id, guard, set) =>
    right.update(id, guard, 'lastStep' in set ? { ...set, lastStep: 0 } : set),
}))
const untaken: Plant = {
  around: (backend) =>
    [untakenLogins, stepless].reduce((inner, { around }) => around?.(inner) ?? inner, backend),
}

/** A code is never counted. */
const untried = collections('client_challenges', (right) => ({
  async update(id, guard, set) {
    return right.update(id, guard, 'attempts' in set ? { ...set, attempts: 0 } : set)
  },
}))

/** A change of the password leaves what may be re-issued as it is. */
const unbarred = collections('client_refresh_tokens', (right) => ({
  update: (id, guard, set) =>
    right.update(id, guard, 'noReissueUpTo' in set ? { ...set, noReissueUpTo: 0 } : set),
}))

/** No rotation says that the login's own device made it: what is lost stays lost. */
const nobodys = collections('client_refresh_tokens', (right) => ({
  update: (id, guard, set) =>
    right.update(id, guard, 'byDevice' in set ? { ...set, byDevice: false } : set),
}))

/** A family that moves on is revoked by the same write. */
const revoking = collections('client_refresh_tokens', (right) => ({
  update: (id, guard, set) =>
    right.update(id, guard, 'generation' in set ? { ...set, revokedAt: 1 } : set),
}))

/** Links stay when they are taken. */
const kept: Plant = {
  around: (backend) => {
    const same = sameEpoch.around?.(backend) ?? backend
    return (
      collections('client_intents', (right) => ({ take: (id) => right.get(id) })).around?.(same) ??
      same
    )
  },
}

const late: Plant = {
  clock: (clock) => ({ ...clock, now: () => clock.now() - 3 * 60 * 60 * 1000 }),
}

/** Whichever account is asked for, what the first one has is answered under its id: another id would be noticed. */
function mixedUp(): Plant {
  let first: string | null = null
  return collections('client_users', (right) => ({
    async get(id) {
      first ??= id
      const doc = await right.get(first)
      return doc === null ? null : { ...doc, id }
    },
  }))
}

const clear: Plant = {
  hasher: {
    ...stubHasher(),
    hash: async (password, { memoryCost, timeCost, parallelism }, salt) => {
      const text = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64').replaceAll('=', '')
      const costs = `m=${memoryCost},t=${timeCost},p=${parallelism}`
      return `$argon2id$v=19$${costs}$${text(salt)}$${text(password)}`
    },
    verify: async (phc, password) =>
      phc.endsWith(`$${Buffer.from(password).toString('base64').replaceAll('=', '')}`),
  },
}

/** Accepts a password with this text in it as that of any account. */
const accepting = (text: string): Plant => ({
  hasher: {
    ...stubHasher(),
    verify: async (phc, password) =>
      Buffer.from(password).includes(text) || stubHasher().verify(phc, password),
  },
})

const unlinked = collections('client_intents', () => ({ get: async () => null }))

/** A factor is gone as soon as it is confirmed. */
const factorless = collections('client_totp_factors', (right) => ({
  async get(id) {
    const factor = await right.get(id)
    return factor !== null && Reflect.get(factor, 'confirmed') === true ? null : factor
  },
}))

const uncounted: Plant = {
  around: (backend) => ({
    ...backend,
    counter: {
      ...backend.counter,
      hit: async (_key, windowMs, _limit, now) => ({
        allowed: true,
        count: 1,
        resetsAt: now + windowMs,
      }),
    },
  }),
}

/** The later of two edits of the same revision takes the place of the earlier one. */
const uncompared = collections('operator_module_environments', (right) => ({
  update: (id, _guard, set) => right.update(id, always(id), set),
}))

/** Edits are answered as if they were written. */
const unwritten = collections('operator_module_environments', (right) => ({
  async update(id, _guard, set) {
    const seen = await right.get(id)
    return seen === null ? null : { ...seen, ...set }
  },
}))

const unrecorded = collections('client_audit_records', () => ({
  insert: () => Promise.reject(new Error('no room')),
}))

/** A predicate, its plant in words, and the plant, made anew for each history. */
type Planted = readonly [PredicateName, string, () => Plant]

const limited: Plant['profile'] = { lockoutThreshold: 5, skews: [0, 0, 0] }

/** For each predicate a mistake that it notices. */
export const plants: readonly Planted[] = [
  ['outMeansOut', 'a denylist that forgets', () => forgetful],
  ['replayEnds', 'a denylist that forgets', () => forgetful],
  ['inMeansIn', 'a denylist that lists everyone', () => eager],
  [
    'lostReplies',
    'rotations that no device made',
    () => ({ ...nobodys, cast: ['phone'], profile: { skews: [0, 0, 0], lostReplies: 0.3 } }),
  ],
  ['lifetimes', 'clocks that are three hours late', () => late],
  ['oneChild', 'rotations without a guard', () => unguarded],
  [
    'voidLinks',
    'epochs of credentials that stay the same',
    // Few of all seeds show it: the more there are who act, the rarer a link is shown after the password was changed.
    () => ({ ...sameEpoch, cast: ['phone', 'link thief'] }),
  ],
  [
    'oneWinner',
    'links that stay when they are taken',
    () => ({ ...kept, cast: ['phone', 'mailbox', 'link thief'] }),
  ],
  ['isolation', 'a store that mixes up accounts', mixedUp],
  ['noSecrets', 'passwords that are stored in clear', () => clear],
  ['secondFactor', 'factors that are lost', () => factorless],
  [
    'squatting',
    'a password that any account accepts',
    () => ({ ...accepting('squatter'), cast: ['newcomer', 'squatter'] }),
  ],
  [
    'guesses',
    'a counter that counts nothing',
    () => ({ ...uncounted, cast: ['guesser'], profile: limited }),
  ],
  ['audit', 'records that are lost', () => unrecorded],
  [
    'stolenSecrets',
    'first passwords that stay good',
    () => ({ ...accepting('battery'), cast: ['phone', 'laptop', 'password thief'] }),
  ],
  [
    'configuration',
    'edits that are not compared',
    () => ({ ...uncompared, cast: ['editor', 'second editor', 'third editor'] }),
  ],
  [
    'switchedOff',
    'edits that are lost',
    () => ({ ...unwritten, cast: ['phone', 'laptop', 'policy maker'] }),
  ],
  [
    'voidLinks',
    'links that do not ask what became of the account',
    () => ({ ...unasked, cast: ['phone', 'laptop', 'mailbox', 'link thief'] }),
  ],
  ['oneSession', 'logins that wait and are not taken', () => ({ ...untaken, cast: ['key phone'] })],
  ['wayIn', 'links that lead nowhere', () => unlinked],
  ['oneGoesOn', 'rows that bar no token', () => ({ ...unbarred, cast: ['phone', 'token thief'] })],
  ['inOrder', 'rotations that revoke', () => revoking],
  [
    'codeGuesses',
    'logins that count no code',
    () => ({ ...untried, cast: ['code thief', 'key phone'] }),
  ],
]
