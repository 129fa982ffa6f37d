import type { HashLine } from '../../crypto/hash-gate.js'
import { networkOf, siteOf } from '../../engine/addresses.js'
import type { RequestSource, Surface } from '../../ports/surface.js'

/** Where hashes wait that a caller who is not signed in asks for. */
export function networkLine(surface: Surface, { ip }: Pick<RequestSource, 'ip'>): HashLine {
  return { holder: surface, name: `network ${networkOf(ip)}`, group: `site ${siteOf(ip)}` }
}

/** Where those wait that a signed-in user asks for: no stranger is in that line. */
export function sessionLine(surface: Surface, sessionId: string): HashLine {
  return { holder: surface, name: `session ${sessionId}` }
}

/** Where those wait that the holder of a mailed link asks for. */
export function linkLine(surface: Surface, ticketId: string): HashLine {
  return { holder: surface, name: `link ${ticketId}` }
}

/** Where those wait that the host's code asks for. */
export const hostLine: HashLine = { holder: 'host', name: '' }
