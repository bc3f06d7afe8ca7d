import { IS_SHORT } from '../support/suite.ts'
import { everyEnding } from './every-ending.ts'
import { buildNetwork } from './ways.ts'

everyEnding(await buildNetwork(), !IS_SHORT)
