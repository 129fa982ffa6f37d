interface Login {
  readonly ip: string | null
  readonly userAgent: string | null
  readonly deviceId: string | null
}

interface Question extends Login {
  readonly failedAttempts: number
  readonly history: readonly Login[]
}

interface Assessment {
  readonly level: 'low' | 'elevated' | 'high'
  readonly signals: readonly ('newDevice' | 'newNetwork' | 'failedAttempts')[]
}

/** Fewer are typing errors. */
const suspiciousFailures = 3

/**
 * The default rule. A device without a recent login is worth a mail. A new network is not, because
 * people travel. Either one right after guesses at the password is worth a second factor.
 */
export function scoreLogin(question: Question): Assessment {
  const { history } = question
  const knowsDevice = history.some((past) => isSameDevice(past, question))
  const network = networkOf(question.ip)
  const knowsNetwork = network === null || history.some(({ ip }) => networkOf(ip) === network)
  const wasGuessedAt = question.failedAttempts >= suspiciousFailures
  const signals = [
    ...(knowsDevice ? [] : (['newDevice'] as const)),
    ...(knowsNetwork ? [] : (['newNetwork'] as const)),
    ...(wasGuessedAt ? (['failedAttempts'] as const) : []),
  ]
  const isNew = !knowsDevice || !knowsNetwork
  if (isNew && wasGuessedAt) return { level: 'high', signals }
  return { level: knowsDevice ? 'low' : 'elevated', signals }
}

function isSameDevice(one: Login, other: Login): boolean {
  if (one.deviceId !== null && one.deviceId === other.deviceId) return true
  return deviceOf(one.userAgent) === deviceOf(other.userAgent)
}

/** The device and the network of a login, as far as they can be told; equal texts are one place. */
export function placeOf({ ip, userAgent, deviceId }: Login): readonly [string, string] {
  return [deviceId ?? deviceOf(userAgent), networkOf(ip) ?? '']
}

/** Without its versions, which change every few weeks. */
function deviceOf(userAgent: string | null): string {
  return (userAgent ?? '').replace(/\d[\w.]*/g, '')
}

/** An IPv4 /24 or an IPv6 /48, which is what one household or office has; null when it is unknown. */
export function networkOf(ip: string | null): string | null {
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
