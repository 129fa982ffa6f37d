import { AuthError } from '../../errors/index.js'
import type { User } from '../../model/user.js'

/**
 * Call it before a factor, a passkey, backup codes, an identity or a trusted device is added. Throws
 * `email_not_verified` until the mailbox is proved: a stranger who registered another person's address must
 * leave nothing behind to sign in with, or to lock the owner out.
 */
export function requireProvedMailbox({ emailVerifiedAt }: Pick<User, 'emailVerifiedAt'>): void {
  if (emailVerifiedAt === null) throw new AuthError('email_not_verified')
}
