import { type AuthClient, createClient } from 'postern/client'
import { takeAddressFragment } from '../shared/address-fragment.ts'
import { signInPage } from '../shared/entry/sign-in-page.ts'
import { startApp } from '../shared/start-app.ts'
import { proveAgain } from '../shared/step-up-dialog.ts'
import { navigation } from './navigation.ts'
import type { OperatorContext } from './operator-page.ts'
import { pages } from './pages.ts'
import { usersPage } from './users/users-page.ts'

// Before anything else runs.
const fragment = takeAddressFragment()

const operator = createClient({
  surface: 'operator',
  async onStepUp() {
    await proveAgain(client)
  },
})
// What the client surface has, the operator surface has too, with the same shapes.
const client = operator as unknown as AuthClient<'client'>

startApp<OperatorContext>({
  surface: 'operator',
  name: 'for operators',
  client,
  pages,
  signIn: signInPage,
  navigation,
  home: usersPage.path,
  fragment,
  contextOf: (context) => ({ ...context, operator }),
})
