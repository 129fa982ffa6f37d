import { breachRange, rangeHolds } from '../../crypto/common-passwords.js'
import type { HashGate, HashLine } from '../../crypto/hash-gate.js'
import type { LegacyFormat } from '../../crypto/legacy-formats.js'
import { formatPhc, isWeakerThan, parsePhc, upgradedParams } from '../../crypto/phc.js'
import { maxPasswordBytes, normalizePassword } from '../../engine/passwords.js'
import { AuthError } from '../../errors/index.js'
import type {
  Argon2Params,
  Clock,
  Fetcher,
  LegacyVerifier,
  Logger,
  PasswordHasher,
  Random,
} from '../../ports/host.js'

export interface PasswordVerdict {
  readonly ok: boolean
  /** The costs for a new hash, when the password is right and its hash too weak; else null. */
  readonly rehashTo: Argon2Params | null
  /** Epoch milliseconds at which the verification itself began. */
  readonly startedAt: number
}

/**
 * Hashes and verifies passwords: NFC, then UTF-8, then argon2id. All of it waits at the gate, in the
 * line that the caller names, so every call may throw `server_busy`, and does so alike for known and
 * unknown accounts.
 */
export interface PasswordHashes {
  /**
   * A PHC string of the current costs. Throws `invalid_request` for text with a lone surrogate and
   * `password_policy` for more than 1,024 bytes.
   */
  hash(password: string, line: HashLine): Promise<string>
  /**
   * Costs one hash verification whatever happens: for no hash (null), one that cannot be read, and a
   * password that can never be right, a dummy of the current costs is verified. A hash of another product
   * costs a second one if the password as it was typed differs from its NFC form.
   */
  verify(storedHash: string | null, password: string, line: HashLine): Promise<PasswordVerdict>
  /**
   * To be awaited before a refusal. Resolves no sooner after the verification began than one of the
   * slowest kind of hash in use would have ended, so that a refusal does not show which kind it was.
   */
  evenOut(verdict: PasswordVerdict): Promise<void>
  /** Whether a login could check a hash of another product, within the bounds of its format. */
  judge(hash: string): Promise<'checkable' | 'tooCostly' | 'unknown'>
  /** Like `hash`, with the costs a verdict asked for. */
  rehash(password: string, params: Argon2Params, line: HashLine): Promise<string>
}

interface Deps {
  readonly hasher: PasswordHasher
  readonly legacyVerifiers: readonly LegacyVerifier[]
  /** The formats that the library reads itself. Default none. */
  readonly legacyFormats?: () => Promise<readonly LegacyFormat[]>
  readonly gate: HashGate
  readonly params: Argon2Params
  readonly random: Random
  readonly clock: Clock
  /** False for test suites, whose clock stands still while a refusal waits; true by default. */
  readonly evensOut?: boolean
  readonly logger?: Pick<Logger, 'warn'>
}

/** What checks an older hash, and what its kind is called where times are compared. */
interface Legacy {
  readonly name: string
  readonly verifier: LegacyVerifier
}

/** KiB times passes: 1 GiB four times, some seconds. `parsePhc` alone would let a hash take a minute. */
const mostImportedWork = 4 * 1024 * 1024

/** What bcrypt reads of a password, and its hashes, also as frameworks wrap them for a verifier of the host. */
const bcryptBytes = 72
const bcryptForm = /^(?:bcrypt\$|\{bcrypt\})?\$2[abxy]?\$\d\d\$/i

export function createPasswordHashes(deps: Deps): PasswordHashes {
  const { hasher, gate, params, random } = deps
  const floor = createCheckFloor(deps.clock, argon2Kind(params))
  // A random tag is as good as a real one: no password is known to match, the work is the same,
  // and nothing has to be computed first that could make the first unknown account stand out.
  const dummy = formatPhc({
    variant: 'argon2id',
    version: 19,
    ...params,
    salt: random.bytes(16),
    tag: random.bytes(32),
  })

  async function rehash(password: string, costs: Argon2Params, line: HashLine): Promise<string> {
    const bytes = bytesOf(password)
    if (bytes === 'malformed') throw new AuthError('invalid_request')
    if (bytes === 'tooLong') throw new AuthError('password_policy', { violations: ['too_long'] })
    return gate(line, () => guarded(() => hasher.hash(bytes, costs, random.bytes(16))))
  }

  /** Timed from when its turn came: how long others waited is not the same for everyone. */
  async function verified(
    kind: HashKind,
    line: HashLine,
    verify: () => Promise<boolean>,
  ): Promise<Omit<PasswordVerdict, 'rehashTo'>> {
    const { result, startedAt } = await gate(line, () => floor.timed(kind, () => guarded(verify)))
    return { ok: result === true, startedAt }
  }

  async function verifyDummy(line: HashLine): Promise<PasswordVerdict> {
    const check = () => hasher.verify(dummy, new Uint8Array(16))
    const { startedAt } = await verified(argon2Kind(params), line, check)
    return { ok: false, rehashTo: null, startedAt }
  }

  const formats = async () => (await deps.legacyFormats?.()) ?? []

  /** The host's own verifiers come first: they know better. */
  async function legacyOf(hash: string): Promise<Legacy | undefined> {
    const reads = (verifier: LegacyVerifier) => verifier.recognises(hash) === true
    const own = deps.legacyVerifiers.findIndex(reads)
    const verifier = deps.legacyVerifiers[own]
    if (verifier !== undefined) return { name: `legacy ${own}`, verifier }
    // An argon2 hash is of no such format.
    if (parsePhc(hash) !== null) return undefined
    const known = await formats()
    const index = known.findIndex(reads)
    const format = known[index]
    return format && { name: `format ${index}`, verifier: format }
  }

  async function verifyLegacy(
    { name, verifier }: Legacy,
    storedHash: string,
    spellings: readonly Uint8Array[],
    line: HashLine,
  ): Promise<PasswordVerdict> {
    // A kind of its own, because checks of one spelling would lower the floor under those of two.
    const kind = { name: spellings.length > 1 ? `${name}, two spellings` : name, cost: null }
    let isCut = false
    const verdict = await verified(kind, line, async () => {
      for (const bytes of spellings) {
        isCut = bytes.length > bcryptBytes && bcryptForm.test(storedHash)
        if ((await verifier.verify(storedHash, bytes)) === true) return true
      }
      return false
    })
    // bcrypt did not read the rest. A mistake in it would become the password, and the right one be refused.
    return { ...verdict, rehashTo: verdict.ok && !isCut ? params : null }
  }

  return {
    hash: (password, line) => rehash(password, params, line),
    rehash,
    evenOut: async ({ startedAt }) => {
      if (deps.evensOut ?? true) await floor.reach(startedAt)
    },

    async judge(hash) {
      const phc = parsePhc(hash)
      if (phc?.variant !== 'argon2id' && (await guarded(() => legacyOf(hash))) !== undefined) {
        return 'checkable'
      }
      if (phc !== null) {
        const isUsual = argon2Work(phc) <= Math.max(mostImportedWork, argon2Work(params))
        return isUsual ? 'checkable' : 'tooCostly'
      }
      const all = [...deps.legacyVerifiers, ...(await formats())]
      const isTooCostly = await guarded(async () => all.some((one) => one.isTooCostly?.(hash)))
      return isTooCostly ? 'tooCostly' : 'unknown'
    },

    async verify(storedHash, password, line) {
      const bytes = bytesOf(password)
      if (storedHash === null || typeof bytes === 'string') return verifyDummy(line)
      const phc = parsePhc(storedHash)
      // argon2id is ours; for other variants the host's verifier, if it has one, knows better.
      const legacy =
        phc?.variant === 'argon2id' ? undefined : await guarded(() => legacyOf(storedHash))
      if (legacy !== undefined)
        return verifyLegacy(legacy, storedHash, spellingsOf(password, bytes), line)
      if (phc === null) {
        deps.logger?.warn(
          'a stored password hash cannot be read; its account cannot log in with a password',
        )
        return verifyDummy(line)
      }
      const check = () => hasher.verify(storedHash, bytes)
      const verdict = await verified(argon2Kind(phc), line, check)
      const isWeak = verdict.ok && isWeakerThan(phc, params)
      return { ...verdict, rehashTo: isWeak ? upgradedParams(phc, params) : null }
    },
  }
}

/** Time goes with memory and passes (RFC 9106 §3.1). */
function argon2Work({ memoryCost, timeCost }: Argon2Params): number {
  return memoryCost * timeCost
}

function argon2Kind(costs: Argon2Params): HashKind {
  const { memoryCost, timeCost, parallelism } = costs
  const name = `argon2 m=${memoryCost},t=${timeCost},p=${parallelism}`
  return { name, cost: argon2Work(costs) }
}

/** What the host's hasher or verifier throws is a failure, never an answer of its choosing. */
async function guarded<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw error instanceof AuthError ? new Error('a hasher failed', { cause: error }) : error
  }
}

/** The bytes to hash, or the reason why this text cannot be a password. */
function bytesOf(password: string): Uint8Array | 'malformed' | 'tooLong' {
  const normalized = normalizePassword(password)
  if (normalized === null) return 'malformed'
  const bytes = new TextEncoder().encode(normalized)
  return bytes.length > maxPasswordBytes ? 'tooLong' : bytes
}

/** Other products hash a password as it is typed: that comes first, then the NFC form if it differs. */
function spellingsOf(password: string, normalized: Uint8Array): readonly Uint8Array[] {
  const typed = new TextEncoder().encode(password)
  const isOther = !Buffer.from(typed).equals(normalized) && typed.length <= maxPasswordBytes
  return isOther ? [typed, normalized] : [normalized]
}

/** What hashes have in common that take equally long to check. */
export interface HashKind {
  readonly name: string
  /** What a check costs, to compare it with others of the same algorithm; null where that is unknown. */
  readonly cost: number | null
}

/**
 * The time that a failed check takes at least, kept per process: as long as checks of the slowest kind of
 * hash that it met. Otherwise one failed login would tell an account with an older, cheaper hash from an
 * address without an account.
 */
export interface CheckFloor {
  /** Makes a check and remembers how long its kind takes. */
  timed<T>(kind: HashKind, check: () => Promise<T>): Promise<Timed<T>>
  /** Resolves no sooner after a check began than one of the slowest kind would have ended. */
  reach(startedAt: number): Promise<void>
}

export interface Timed<T> {
  readonly result: T
  /** Epoch milliseconds. */
  readonly startedAt: number
}

interface Seen extends Pick<HashKind, 'cost'> {
  readonly ms: number
}

/** Longer ones are not a check: the clock was set while it ran, or the machine slept. */
const longestMs = 3_000
const mostKinds = 64

/**
 * `current` is the kind that addresses without an account are checked with. Until one was seen, its time
 * is estimated from that of another.
 */
export function createCheckFloor(clock: Clock, current: HashKind): CheckFloor {
  const seen = new Map<string, Seen>()

  function remember({ name, cost }: HashKind, ms: number): void {
    const before = seen.get(name)?.ms
    if (ms < 0 || ms > longestMs || (before === undefined && seen.size >= mostKinds)) return
    // Up at once, and slowly down: what is nearly the slowest has to be covered as well.
    const next = before === undefined || ms >= before ? ms : before - (before - ms) / 16
    seen.set(name, { cost, ms: next })
  }

  function floorMs(): number {
    const all = [...seen.values()]
    const estimates = all.map(({ ms, cost }) => {
      if (seen.has(current.name) || cost === null || current.cost === null) return ms
      return Math.max(ms, (ms * current.cost) / cost)
    })
    return Math.min(longestMs, Math.max(0, ...estimates))
  }

  return {
    async timed(kind, check) {
      const startedAt = clock.now()
      const result = await check()
      remember(kind, clock.now() - startedAt)
      return { result, startedAt }
    },
    async reach(startedAt) {
      const floor = floorMs()
      // Bounded, since the clock may have been set meanwhile.
      const rest = Math.min(floor, startedAt + floor - clock.now())
      if (rest <= 0) return
      await new Promise<void>((resolve) => {
        // A script without a server has nothing else that keeps it until the reply is there.
        clock.after(Math.ceil(rest), resolve, true)
      })
    },
  }
}

export type BreachVerdict = 'clean' | 'breached' | 'unavailable'

export interface BreachCheck {
  /**
   * Whether a password is known from a breach. Only the first five hexadecimal digits of its SHA-1
   * leave the process (k-anonymity). Takes at most 1.5 s and never rejects; `unavailable` when the
   * service gave no usable answer, and for five minutes after that without asking.
   */
  check(password: string): Promise<BreachVerdict>
}

interface BreachDeps {
  readonly fetcher: Fetcher
  readonly clock: Clock
  /** The range endpoint, without the digits; must end in a slash. */
  readonly endpoint?: string
}

const publicEndpoint = 'https://api.pwnedpasswords.com/range/'
const timeoutMs = 1500
/** A padded reply is some 40 KB. */
const maxBytes = 256 * 1024
const pauseMs = 5 * 60_000

export function createBreachCheck(deps: BreachDeps): BreachCheck {
  const { fetcher, clock, endpoint = publicEndpoint } = deps
  let pausedUntil = Number.NEGATIVE_INFINITY

  async function ask(password: string): Promise<boolean | null> {
    const { prefix, suffix } = breachRange(password)
    const reply = await fetcher.fetch({
      url: endpoint + prefix,
      method: 'GET',
      // Padding hides from an onlooker, by the reply's size, which range was asked for.
      headers: { 'Add-Padding': 'true', 'User-Agent': 'postern' },
      timeoutMs,
      maxBytes,
    })
    return reply.status === 200 ? rangeHolds(reply.body, suffix) : null
  }

  return {
    async check(password) {
      if (clock.now() < pausedUntil) return 'unavailable'
      const found = await ask(normalizePassword(password) ?? password).catch(() => null)
      if (found !== null) return found ? 'breached' : 'clean'
      pausedUntil = clock.now() + pauseMs
      return 'unavailable'
    },
  }
}
