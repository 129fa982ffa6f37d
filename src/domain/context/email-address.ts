import { canonicalEmail } from '../../engine/addresses.js'
import { AuthError, loadPart } from '../../errors/index.js'

// Loaded by the first domain that needs its tables.
const library = () => loadPart('tr46', () => import('tr46'))

/**
 * The one form of an address that is stored, compared, counted and mailed to. A domain of any script becomes its
 * A-label by UTS 46, by a library and not by the runtime: two replicas must read an address alike. `null` for what is no
 * address. Idempotent.
 */
export async function readEmail(typed: string): Promise<string | null> {
  const trimmed = typed.trim()
  const at = trimmed.lastIndexOf('@')
  const domain = trimmed.slice(at + 1)
  if (at < 1 || typed.length > 320 || isPlain(domain)) return canonicalEmail(typed)
  const { toASCII } = await library()
  const rules = {
    checkBidi: true,
    checkJoiners: true,
    useSTD3ASCIIRules: true,
    verifyDNSLength: true,
  }
  const ascii = toASCII(domain, { ...rules, transitionalProcessing: false })
  return ascii === null ? null : canonicalEmail(`${trimmed.slice(0, at)}@${ascii}`)
}

/** ASCII, and no label that claims to be of another script. */
function isPlain(domain: string): boolean {
  return /^[!-~]*$/.test(domain) && !/xn--/i.test(domain)
}

/** The same. Throws `invalid_request`, which names the member, for what is no address. */
export async function requireEmail(typed: string, member: 'email' | 'newEmail'): Promise<string> {
  const email = await readEmail(typed)
  if (email !== null) return email
  const detail = `"${member}" must be an address with letters of ASCII before the @ and a domain with a dot behind it, such as ada@example.org.`
  throw new AuthError('invalid_request', { detail })
}
