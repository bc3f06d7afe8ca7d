// Internals: the texts that are kept, which change nothing but time.
import { WireTexts } from '../../src/context/wire-texts.ts'

// `PORTCULLIS_KEPT_TEXTS=off npx vitest run` has every test in a process that keeps no texts.
WireTexts.isOff = true
