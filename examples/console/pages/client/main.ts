import { createClient } from 'postern/client'
import { accountNavigation, accountPages } from '../shared/account/account-pages.ts'
import { takeAddressToken } from '../shared/address-token.ts'
import { signInPage } from '../shared/sign-in-page.ts'
import { startApp } from '../shared/start-app.ts'
import { proveAgain } from '../shared/step-up-dialog.ts'

// Before anything else runs.
const mailedToken = takeAddressToken()

const client = createClient({
  surface: 'client',
  async onStepUp() {
    await proveAgain(client)
  },
})

startApp({
  surface: 'client',
  name: 'account',
  client,
  pages: [signInPage, ...accountPages],
  signIn: signInPage,
  navigation: accountNavigation,
  mailedToken,
  contextOf: (context) => context,
})
