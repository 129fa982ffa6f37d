import { sha256 } from '../../crypto/secrets.js'
import type { PendingRegistration } from '../../model/user.js'

type Named = Pick<PendingRegistration, 'keyHash' | 'email'>

/**
 * What the deletion of an account leaves of the registrations of its address, until they expire. Their
 * makers may be strangers: were they gone, a login with the key of one would be answered otherwise than
 * the day before, and tell that the address had an account. No name, password or address is left.
 */
export function stripped(registration: Named) {
  const email = strippedAddress(registration, registration.email)
  return { email, method: '', emailAsTyped: '', passwordHash: '', name: '', termsVersion: null }
}

export function isStripped({ method }: Pick<PendingRegistration, 'method'>): boolean {
  return method === ''
}

/** Whether it is, or was, of this address. */
export function isOfAddress(registration: Named, email: string): boolean {
  return registration.email === email || registration.email === strippedAddress(registration, email)
}

function strippedAddress({ keyHash }: Named, email: string): string {
  return `stripped ${sha256(`${keyHash} ${email}`)}`
}
