import { isLocalHost, longestUrl } from '../engine/addresses.js'

/** Takes the text of a literal IP address; false for one that is not on the public internet. */
export type IsPublicAddress = (address: string) => boolean

/**
 * What is wrong with the address of a webhook, as the second half of a sentence. A name is taken on
 * trust: what it resolves to is looked at when an event is delivered, every time.
 */
export function webhookUrlProblem(text: string, isPublicAddress: IsPublicAddress): string | null {
  const url = parsed(text)
  if (url?.protocol !== 'https:') return "must be an 'https:' address"
  // Administrators see the address, and a password in it would be shown to them.
  if (url.username !== '' || url.password !== '') return 'must hold no user name and no password'
  if (url.hash !== '') return 'must have no fragment'
  if (isTooLong(url)) return tooLong()
  return isPrivateHost(url.hostname, isPublicAddress)
    ? 'must be an address on the public internet'
    : null
}

/**
 * What is wrong with a redirect target, as the second half of a sentence. One for developing, at
 * `http:` on this machine, is for `firstValues` alone.
 */
export function redirectProblem(
  text: string,
  flow: string,
  { firstValues }: { readonly firstValues: boolean },
): string | null {
  const url = /\s/u.test(text) ? null : parsed(text)
  if (url === null) return 'must be an absolute URI without spaces'
  const problem = targetProblem(text, url)
  if (problem !== null) return problem
  if (flow === 'web') {
    if (url.protocol === 'https:') return null
    if (!firstValues) return "must be an 'https:' address"
    return url.protocol === 'http:' && isLocalHost(url.hostname)
      ? null
      : "must be an 'https:' address; 'http:' is for localhost, 127.0.0.1, [::1] and *.localhost"
  }
  // An app is called by a link it claims, or by a scheme of its own: a domain name turned around, which
  // no other app takes by chance and no browser has a meaning for (RFC 8252 §7.1).
  return url.protocol === 'https:' || url.protocol.includes('.')
    ? null
    : "must be an 'https:' address or of a scheme with a dot in it, as 'org.example.app:/done'"
}

function targetProblem(text: string, url: URL): string | null {
  // It would be a host of that very name, which no browser is sent to.
  if (url.hostname.includes('*')) return 'must name one host: there are no wildcards, so list each'
  if (text.includes('#')) return 'must have no fragment'
  if (isTooLong(url)) return tooLong()
  return url.username !== '' || url.password !== ''
    ? 'must hold no user name and no password'
    : null
}

/** Written when it is needed: the first number that is written for a language takes 20 ms and 8 MiB of a process. */
function tooLong(): string {
  return `must be at most ${longestUrl.toLocaleString('en')} characters as it is sent, which is percent-encoded`
}

function isTooLong({ href }: URL): boolean {
  return href.length > longestUrl
}

function parsed(text: string): URL | null {
  return URL.canParse(text) ? new URL(text) : null
}

/** It need not know the forms that an address can be typed in: the parser has made it the usual one. */
function isPrivateHost(hostname: string, isPublicAddress: IsPublicAddress): boolean {
  const name = hostname.replace(/\.$/, '')
  if (name === 'localhost' || name.endsWith('.localhost')) return true
  const isV6 = name.startsWith('[')
  const isAddress = isV6 || /^\d+\.\d+\.\d+\.\d+$/.test(name)
  return isAddress && !isPublicAddress(isV6 ? name.slice(1, -1) : name)
}
