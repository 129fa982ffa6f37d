import { endEverywhere } from '../shared/account/end-everywhere.ts'
import { element } from '../shared/element.ts'
import type { Page } from '../shared/page.ts'

/** Ends all sessions. End users have no list of them. */
export const sessionsPage: Page = {
  path: '/sessions',
  title: 'Sessions',
  audience: 'user',
  render(main, context) {
    main.append(
      element('p', {}, 'Signs you out in every browser and app in which you are signed in.'),
      endEverywhere(context),
    )
  },
}
