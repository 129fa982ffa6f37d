import { createClient } from 'postern/client'
import { accountPage } from '../shared/account/account-page.ts'
import { accountNavigation, accountPages } from '../shared/account/account-pages.ts'
import { linkedProvidersPage } from '../shared/account/linked-providers-page.ts'
import { takeAddressFragment } from '../shared/address-fragment.ts'
import { entryPages } from '../shared/entry/entry-pages.ts'
import { signInPage } from '../shared/entry/sign-in-page.ts'
import { hostCall } from '../shared/host-call.ts'
import { startApp } from '../shared/start-app.ts'
import { proveAgain } from '../shared/step-up-dialog.ts'
import { mailedCodePage } from './mailed-code-page.ts'
import { sessionsPage } from './sessions-page.ts'

// Before anything else runs.
const fragment = takeAddressFragment()

const client = createClient({
  surface: 'client',
  async onStepUp() {
    await proveAgain(client)
  },
})

const providersPage = linkedProvidersPage({
  link: (_context, given) => hostCall(client, 'POST', '/identities', given),
  unlink: (_context, given) => hostCall(client, 'DELETE', '/identities', given),
})

startApp({
  surface: 'client',
  name: 'for users',
  client,
  pages: [...entryPages, mailedCodePage, ...accountPages, providersPage, sessionsPage],
  signIn: signInPage,
  navigation: [
    ...accountNavigation,
    { path: providersPage.path, label: providersPage.title },
    { path: sessionsPage.path, label: 'Sessions' },
  ],
  home: accountPage.path,
  fragment,
  contextOf: (context) => context,
})
