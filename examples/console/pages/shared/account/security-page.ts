import type { Page } from '../page.ts'
import { backupCodesSection } from './backup-codes-section.ts'
import { devicesSection } from './devices-section.ts'
import { passkeysSection } from './passkeys-section.ts'
import { passwordSection } from './password-section.ts'
import { totpSection } from './totp-section.ts'

/** The password and the second factors of the account. */
export const securityPage: Page = {
  path: '/security',
  title: 'Security',
  audience: 'user',
  async render(main, context) {
    const { passwordLogin } = await context.options()
    main.append(
      totpSection(context),
      passkeysSection(context),
      backupCodesSection(context),
      devicesSection(context),
    )
    if (passwordLogin) main.append(passwordSection(context))
  },
}
