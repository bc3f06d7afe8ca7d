import { once } from 'node:events'
import { logInByCertificate } from './device.ts'
import { type Options, readOptions, USAGE, UsageError } from './options.ts'
import { createNetwork } from './steps/create-network.ts'
import { enrollIdentity } from './steps/enroll-identity.ts'
import { enrollOthers } from './steps/enroll-others.ts'
import { loseService } from './steps/lose-service.ts'
import { offerRecipes } from './steps/offer-recipes.ts'
import { openCertificates } from './steps/open-certificates.ts'
import { reachService } from './steps/reach-service.ts'
import { readPage } from './steps/read-page.ts'
import { showAccess } from './steps/show-access.ts'
import { type ServedController, startController } from './steps/start-controller.ts'
import { StepFailed, type Story, tellStory } from './story.ts'

const DEVICE = 'laptop'
const GUARDED_SERVICE = 'payroll'
const HOST = 'app-server'
const LEFT_TO_THE_READER = 'phone'

/** The exit code that shells report for a process that Ctrl-C ended. */
const EXIT_INTERRUPTED = 130

/** The whole quickstart, step by step; `started` hears of the controller as soon as it serves. */
async function tell(story: Story, options: Options, started: (controller: ServedController) => void): Promise<void> {
  const { step, say } = story
  say('Portcullis quickstart: the network of a small company')
  const pki = await step('Certificates', (tick) => openCertificates(options, tick))
  const controller = await step('Controller', (tick) => startController(options, pki, tick))
  started(controller)
  const { url, ca } = controller
  const company = await step('Network of network.yaml, through the management API', (tick) =>
    createNetwork(controller, tick),
  )
  const { laptop, certificate } = await step(`Enrollment of ${DEVICE}`, async (tick) => {
    const certificate = await enrollIdentity(company, DEVICE, tick)
    const laptop = await logInByCertificate(url, ca, certificate)
    tick(`${DEVICE} authenticated with its certificate over mTLS`)
    return { laptop, certificate }
  })
  const reached = await step(`${DEVICE} reaches ${GUARDED_SERVICE}`, (tick) =>
    reachService(laptop, GUARDED_SERVICE, tick),
  )
  const page = await step(`${DEVICE} reads a page of ${GUARDED_SERVICE}`, (tick) =>
    readPage(controller, certificate, { service: GUARDED_SERVICE, host: HOST }, tick),
  )
  await step(`${DEVICE} loses ${GUARDED_SERVICE}`, (tick) => loseService(company, laptop, reached, page, DEVICE, tick))
  const clients = await step('Enrollment of the others', (tick) =>
    enrollOthers(controller, company, new Map([[DEVICE, laptop]]), LEFT_TO_THE_READER, tick),
  )
  const table = await step('Who may do what', (tick) => showAccess(company, clients, tick))
  say('', ...table.map((line) => `   ${line}`))
  const recipes = await step('Your turn, with curl and openssl in this folder', () =>
    offerRecipes(controller, company, DEVICE, LEFT_TO_THE_READER),
  )
  say(...(options.once ? ['   (the controller ends now: start it without --once to try these)'] : []), ...recipes)
}

/** Resolves when the process is asked to end. */
function askedToEnd(): Promise<unknown> {
  return Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')])
}

async function run(options: Options): Promise<number> {
  const story = tellStory((line) => console.log(line))
  const ended = askedToEnd()
  let controller: ServedController | undefined
  const told = tell(story, options, (started) => {
    controller = started
  })
  try {
    const isTold = await Promise.race([told.then(() => true), ended.then(() => false)])
    if (!isTold) return EXIT_INTERRUPTED
    if (options.once) return 0
    story.say('', `Serving on ${controller?.url}; Ctrl-C ends it.`)
    await ended
    return 0
  } catch (error) {
    if (!(error instanceof StepFailed)) throw error
    console.error(`\n✖ ${error.message}`)
    return 1
  } finally {
    await controller?.close()
  }
}

function main(): Promise<number> | number {
  try {
    const options = readOptions(process.argv.slice(2), process.env)
    if (!options.help) return run(options)
    console.log(USAGE)
    return 0
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    console.error(`${error.message}\n\n${USAGE}`)
    return 2
  }
}

// Work that a signal interrupted must not keep the process alive.
process.exit(await main())
