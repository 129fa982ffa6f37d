import { codeOf } from '../shared/code-field.ts'
import { element } from '../shared/element.ts'
import { backLink } from '../shared/entry/back-link.ts'
import { nextStep } from '../shared/entry/sign-in-steps.ts'
import { field } from '../shared/field.ts'
import { form } from '../shared/form.ts'
import type { Page, PageContext } from '../shared/page.ts'

/** Mails a code of eight digits, and signs in with it in this browser. */
export const mailedCodePage: Page = {
  path: '/sign-in-code',
  title: 'Sign in by a mailed code',
  audience: 'visitor',
  render(main, context) {
    const email = field({
      name: 'email',
      label: 'E-mail address',
      attributes: { type: 'email', required: true, autocomplete: 'username' },
    })
    const send = async () => {
      await context.client.call('POST /login/code', { email: email.input.value })
      askForCode(main, context, email.input.value)
    }
    main.append(form({ fields: [email], submit: 'Mail me a code', onSubmit: send }), backLink())
  },
}

/** The browser keeps a cookie of its own, so that the code is good here alone. */
function askForCode(main: HTMLElement, context: PageContext, email: string): void {
  const heading = element('h2', { tabindex: -1 }, 'Look into your mails')
  const text = `If ${email} has an account, a code is on its way. It works in this browser, for ten minutes.`
  const code = field({
    name: 'mailedCode',
    label: 'The eight digits',
    attributes: { required: true, inputmode: 'numeric', autocomplete: 'one-time-code' },
  })
  const show = async () => {
    const input = { code: codeOf(code) }
    await nextStep(await context.client.call('POST /login/code/verify', input), main, context)
  }
  const fieldOf = { invalid_credentials: 'mailedCode' }
  main.replaceChildren(
    heading,
    element('p', {}, text),
    form({ fields: [code], submit: 'Sign in', fieldOf, onSubmit: show }),
    backLink(),
  )
  heading.focus()
}
