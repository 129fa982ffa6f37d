interface Login {
  readonly ip: string | null
  readonly userAgent: string | null
  readonly deviceId: string | null
  readonly recognitionHash?: string | null
}

interface Question extends Login {
  readonly failedAttempts: number
  readonly history: readonly Login[]
}

interface Assessment {
  readonly level: 'low' | 'elevated' | 'high'
  readonly signals: readonly ('newDevice' | 'newNetwork' | 'failedAttempts')[]
}

/** Wrong guesses in a row that are suspicious. Fewer are typing errors. */
const suspiciousFailures = 3

/**
 * Whether a guess is the one that its owner is told of: the third. Where it locks and the lockout has a mail, that one
 * says as much. A threshold below three cannot be set.
 */
export function isToldGuess(guess: { readonly number: number; readonly mailed: boolean }): boolean {
  return guess.number === suspiciousFailures && !guess.mailed
}

/** Whether the right password came after so many wrong ones that its owner should know. */
export function isAfterGuesses(failedAttempts: number): boolean {
  return failedAttempts >= suspiciousFailures
}

/**
 * The default rule. A device without a recent login is worth a mail. A new network is not, because
 * people travel; but a user agent, which anybody can send, makes a device known only in a network that is
 * known. Either one right after guesses at the password is worth a second factor.
 */
export function scoreLogin(question: Question): Assessment {
  const { history } = question
  const network = loginNetworkOf(question.ip)
  const wasHere = history.some(({ ip }) => loginNetworkOf(ip) === network)
  const knowsDevice =
    history.some((past) => isSameDevice(past, question)) ||
    (wasHere && history.some((past) => hasSameUserAgent(past, question)))
  const knowsNetwork = network === null || wasHere
  const wasGuessedAt = isAfterGuesses(question.failedAttempts)
  const signals = [
    ...(knowsDevice ? [] : (['newDevice'] as const)),
    ...(knowsNetwork ? [] : (['newNetwork'] as const)),
    ...(wasGuessedAt ? (['failedAttempts'] as const) : []),
  ]
  const isNew = !knowsDevice || !knowsNetwork
  if (isNew && wasGuessedAt) return { level: 'high', signals }
  return { level: knowsDevice ? 'low' : 'elevated', signals }
}

/** By what only that device can send. */
function isSameDevice(one: Login, other: Login): boolean {
  const { deviceId, recognitionHash = null } = other
  const isTrusted = deviceId !== null && one.deviceId === deviceId
  return isTrusted || (recognitionHash !== null && one.recognitionHash === recognitionHash)
}

function hasSameUserAgent(one: Login, other: Login): boolean {
  return agentOf(one.userAgent) === agentOf(other.userAgent)
}

/** The device and the network of a login, as far as they can be told; equal texts are one place. */
export function placeOf(login: Login): readonly [string, string] {
  const [device, network] = surroundingsOf(login)
  return [login.recognitionHash ?? device, network]
}

/**
 * Devices that are kept of one user agent, or one trusted device, in one network. A client that keeps
 * no recognition id is another device at each login.
 */
const mostAlike = 8

/** The logins of this history, which has the newest first, that give way to one more. */
export function surplusBeside<L extends Login>(login: Login, history: readonly L[]): readonly L[] {
  const [alike, network] = surroundingsOf(login)
  const isBeside = (past: Login): boolean => {
    const [itsAlike, itsNetwork] = surroundingsOf(past)
    return itsAlike === alike && itsNetwork === network && !isSamePlace(past, login)
  }
  return history.filter(isBeside).slice(mostAlike - 1)
}

export function isSamePlace(one: Login, other: Login): boolean {
  const [device, network] = placeOf(one)
  const [otherDevice, otherNetwork] = placeOf(other)
  return device === otherDevice && network === otherNetwork
}

function surroundingsOf({ ip, userAgent, deviceId }: Login): readonly [string, string] {
  return [deviceId ?? agentOf(userAgent), loginNetworkOf(ip) ?? '']
}

/** Without its versions, which change every few weeks. */
export function agentOf(userAgent: string | null): string {
  return (userAgent ?? '').replace(/\d[\w.]*/g, '')
}

/** An IPv4 /24 or an IPv6 /48, which is what one household or office has; null when it is unknown. */
export function loginNetworkOf(ip: string | null): string | null {
  if (ip === null) return null
  if (!ip.includes(':')) return ip.split('.').slice(0, 3).join('.')
  const [before = '', after = ''] = ip.toLowerCase().split('::')
  const groups = (text: string): readonly string[] => (text === '' ? [] : text.split(':'))
  const zeros = 8 - groups(before).length - groups(after).length
  const all = [...groups(before), ...Array.from({ length: zeros }, () => '0'), ...groups(after)]
  return all
    .slice(0, 3)
    .map((group) => group.replace(/^0+(?=.)/, ''))
    .join(':')
}

/** Joins the digest of a client with those of its places; none of them has a dot. */
export function clientMark(client: string, places: readonly string[]): string {
  return [client, ...places].join('.')
}

/** Whether two marks are of one client, wherever it was. */
export function isSameClient(one: string, other: string): boolean {
  return one.split('.')[0] === other.split('.')[0]
}

/** What changed from one mark to the next; nothing where one of them has no places. */
export function changedPlaces(before: string, now: string): readonly ('network' | 'userAgent')[] {
  const [, network, agent] = before.split('.')
  const [, nextNetwork, nextAgent] = now.split('.')
  if (agent === undefined || nextAgent === undefined) return []
  return [
    ...(network === nextNetwork ? [] : (['network'] as const)),
    ...(agent === nextAgent ? [] : (['userAgent'] as const)),
  ]
}

/** 128 random bits in base64url. */
const length = 22

/** The recognition ids in what a browser or app keeps: one for each account that signed in there. */
export function recognitionIds(kept: string | null): readonly string[] {
  return keysIn(kept, length)
}

const mostKeys = 4

/**
 * The random keys, each of `length` characters of base64url, in what a browser or app keeps of several
 * things of one kind, the newest first. Any other text is left out.
 */
export function keysIn(kept: string | null, length: number): readonly string[] {
  const parts = (kept ?? '').slice(0, 1024).split('.')
  const keys = parts.filter((part) => part.length === length && /^[\w-]+$/.test(part))
  return [...new Set(keys)].slice(0, mostKeys)
}

/** What is to be kept from now on, the newest first; the oldest give way. */
export function keptKeys(newest: string, others: readonly string[]): string {
  return [newest, ...others].slice(0, mostKeys).join('.')
}
