import fc from 'fast-check'

/** Any number will do: it names the cases that properties draw in `npm test` and `npm run test:slow`. */
const SEED = 20_261_130

// A suite tries the same cases each time: a change is judged by itself, and a refusal can be repeated. `npm run test:properties` draws
// other cases each time, and many more.
if (process.env.PORTCULLIS_PROPERTY_RUNS === undefined) fc.configureGlobal({ seed: SEED })
