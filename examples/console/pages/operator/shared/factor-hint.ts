import { type Child, element } from '../../shared/element.ts'
import type { PageContext } from '../../shared/page.ts'

/** Tells an operator without a second factor that nothing can be changed here before there is one. */
export async function factorHint({ client }: PageContext): Promise<Child> {
  const { totp, passkeys } = await client.call('GET /mfa')
  if (totp.enrolled || passkeys > 0) return null
  return element(
    'p',
    { class: 'notice' },
    'You can look at everything here. To change something you need a second factor: ',
    element('a', { href: '/security' }, 'add an authenticator app or a passkey'),
    '.',
  )
}
