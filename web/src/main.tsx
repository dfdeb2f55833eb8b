import { fold, orders } from "./fold";
import { confidences, noChanges, strengths } from "./strengths";

Object.assign(globalThis, { debate: { fold, orders, strengths, noChanges, confidences } });
